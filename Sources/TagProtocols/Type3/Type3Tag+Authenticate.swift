// SPDX-License-Identifier: Apache-2.0

extension Type3Tag {
    /// Authenticates a FeliCa Lite-S and its reader to each other. What is read from then on is checked, and what is
    /// written proved, so that a tag whose blocks want authentication or codes can be used like another.
    ///
    /// - Parameter cardKey: the 16 octets that were written to block CK.
    /// - Throws: ``TagError`` with `authenticationFailed` when the tag has another key, `unsupported` for other products
    ///   and where the system's OpenSSL is missing, `refused`, `updateFailed`, `tagLost`, `badAnswer`, `cancelled`.
    public func authenticate(cardKey: [UInt8]) async throws(TagError) {
        guard target.icCode == 0xF1 else {
            throw TagError(.unsupported, "Only FeliCa Lite-S authenticates a reader.")
        }
        guard cardKey.count == 16 else {
            throw TagError(.unsupported, "A card key of FeliCa Lite-S has 16 octets, not \(cardKey.count).")
        }
        if let lost { throw lost }
        session = nil
        do throws(TagError) {
            var begun = try await FeliCaLiteSSession.begin(with: card, cardKey: cardKey)
            try await begun.authenticateReader()
            session = begun
        } catch {
            throw remember(error)
        }
    }

    /// Reads blocks with codes, three at a time.
    func check(_ blocks: Range<Int>, in session: FeliCaLiteSSession) async throws(TagError) -> [UInt8] {
        var octets: [UInt8] = []
        var first = blocks.lowerBound
        while first < blocks.upperBound {
            let next = min(blocks.upperBound, first + FeliCaLiteSSession.maximumBlocksPerRead)
            octets += try await session.read((first..<next).map { UInt8(truncatingIfNeeded: $0) })
            first = next
        }
        return octets
    }

    /// Writes blocks with codes, one after the other.
    func update(_ first: Int, _ octets: [UInt8], in session: FeliCaLiteSSession) async throws(TagError) {
        var session = session
        defer { self.session = session }
        for (index, start) in stride(from: 0, to: octets.count, by: Type3AttributeBlock.blockSize).enumerated() {
            let block = Array(octets[start..<start + Type3AttributeBlock.blockSize])
            try await session.write(UInt8(truncatingIfNeeded: first + index), block)
        }
    }
}
