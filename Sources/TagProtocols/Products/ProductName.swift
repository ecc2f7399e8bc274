// SPDX-License-Identifier: Apache-2.0

extension TagTarget {
    /// The product's name as far as the tag's own answers tell it, such as `NTAG213`: those of activation, and where they
    /// are not enough, those to GET_VERSION and its like, which are asked for.
    ///
    /// - Parameters:
    ///   - tag: the tag's procedures, activated; nil for a tag that has none.
    ///   - historicalBytes: those of a card's ATS, where it is known.
    /// - Returns: nil when the tag does not say what it is.
    /// - Throws: ``TagError`` with `tagLost`, `badAnswer`, `cancelled`, `readerUnavailable`.
    public func productName(
        asking tag: (any ForumTag)?,
        historicalBytes: [UInt8] = []
    ) async throws(TagError) -> String? {
        switch (self, tag) {
        case (_, let tag as Type1Tag):
            try await tag.prepare()
            return tag.target?.productName
        case (_, let tag as Type2Tag): return try await tag.identifyProduct()
        case (.nfcA(let target), let tag as Type4Tag):
            // Other makers' cards are not asked: what the command means to them is theirs to say.
            switch MIFAREFamily(target, historicalBytes: historicalBytes) {
            case .desfire, .plus: return try await tag.readVersion()?.productName
            default: return nil
            }
        case (.nfcA(let target), _): return target.classicProductName
        case (.nfcB, _): return nil
        // A reader that keeps the PMm to itself gives all ones.
        case (.nfcF(let target), _): return target.productName
        case (.nfcV(let target), _): return target.productName
        }
    }
}

extension Type4Tag {
    /// Asks a MIFARE DESFire, NTAG 4xx or MIFARE Plus for its version. What is selected stays selected.
    ///
    /// - Returns: nil when the card does not have the command.
    /// - Throws: ``TagError`` as `send(_:)` of the link does.
    public func readVersion() async throws(TagError) -> DESFireVersion? {
        try await DESFireVersion.read(from: link)
    }
}
