// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProducts

extension Type2Tag {
    /// Reads the NDEF message. Bytes that detection has read are not read again (NFC Forum T2T 1.2, 6.3).
    ///
    /// - Returns: the message's bytes as stored on the tag; empty when the tag is empty.
    /// - Throws: the errors of ``detectNDEF()``.
    public func readNDEF() async throws(TagError) -> [UInt8] {
        let layout = try await locate()
        let addresses = layout.messageAddresses
        guard let first = addresses.first, let last = addresses.last else { return [] }
        let pages = first / Type2Memory.pageSize..<last / Type2Memory.pageSize + 1
        try await lookForFastRead(pages)
        try await fetch(pages)
        return addresses.compactMap { memory[byte: $0] }
    }

    /// Distinguishes an NTAG213 from an NTAG203 and an Ultralight C by the page after their data areas, which have the
    /// same size. Only an NTAG213 has BD in the last byte of that page (NTAG213/215/216 data sheet, 8.5.3).
    ///
    /// The page is only used when it was read before, or comes with a READ that is needed for the end of the message
    /// anyway. So FAST_READ is never tried on a full Ultralight C.
    private func lookForFastRead(_ pages: Range<Int>) async throws(TagError) {
        let page = 0x28
        guard fastRead == .unknown, target.isNXP,
            capabilityContainer?.sizeByte == Type2Product.ntag213.capabilitySize
        else { return }
        if !memory.contains(page) {
            guard let run = memory.firstUnknownRun(in: pages), run.upperBound == page, run.count % 4 != 0 else {
                return
            }
            try await performRead(page - 3)
        }
        fastRead = memory[page: page]?.last == 0xBD ? .usable : .unusable
    }

    /// Reads the pages of a range that were not read yet.
    ///
    /// - Parameter pages: the pages, counted across all sectors.
    /// - Throws: ``TagError`` with `lengthOverrun` or `refused` when the tag has no such page, `readProtected` when reading
    ///   it needs a password.
    func fetch(_ pages: Range<Int>) async throws(TagError) {
        let end = max(pages.upperBound, capabilityContainer?.endPage ?? 0)
        while let run = memory.firstUnknownRun(in: pages) {
            let plan = Type2ReadPlan(
                timing: FrameTiming(link.technology),
                maximumFrameLength: link.maximumFrameLength,
                fastRead: fastRead
            )
            switch plan.firstCommand(for: run, end: end) {
            case .fastRead(let first, let last): try await performFastRead(first, last)
            case .read(let page):
                try await performRead(page)
                // The requested pages were after a rollover in the answer: read them alone.
                if !memory.contains(run.lowerBound) { try await performRead(run.lowerBound) }
            default: return
            }
        }
    }

    /// Reads four pages (NFC Forum T2T 1.2, 5.2).
    ///
    /// When a tag has no more pages, or does not let the next ones be read, its answer continues at page 0. This is
    /// detected by the UID in pages 0 and 1, and such pages are not stored.
    func performRead(_ page: Int) async throws(TagError) {
        switch try await exchange(.read(page)) {
        case .bytes(let bytes): memory.store(bytes[0..<rolledOver(bytes) * Type2Memory.pageSize], at: page)
        case .refused(let nibble): throw try await unreadable(page, nibble)
        }
    }

    /// The error for a page that the tag refuses to read.
    private func unreadable(_ page: Int, _ nibble: UInt8) async throws(TagError) -> TagError {
        // NAK 1: the command arrived damaged, again and again.
        if nibble != 1, try await hasForData(page) {
            return TagError(
                .readProtected,
                "The tag lets page \(page) be read only with its password (NTAG213/215/216 data sheet, 8.8)."
            )
        }
        guard let area = capabilityContainer?.area, area.contains(page * Type2Memory.pageSize) else {
            return TagError(.refused, "The tag refuses to read page \(page) (NFC Forum T2T 1.2, 5.2).")
        }
        return TagError(
            .lengthOverrun,
            """
            The capability container gives a data area of \(area.count) bytes, but the tag refuses to read page \
            \(page) in it: it is smaller, or protected by a password (NFC Forum T2T 1.2, 4.5).
            """
        )
    }

    /// Returns whether the tag certainly has a page, for data or before it: all tags have the first 16.
    private func hasForData(_ page: Int) async throws(TagError) -> Bool {
        if page < Type2DynamicLock.firstPage { return true }
        guard target.isNXP else { return false }
        if let version = try await readVersion() { return page < Type2Product(version: version)?.endPage ?? 0 }
        // With a page behind those of an Ultralight it is an NTAG203 or an Ultralight C.
        guard canAskVersion, page < Type2Product.ntag203.endPage else { return false }
        return try await answersRead(Type2DynamicLock.firstPage)
    }

    /// Returns the index in an answer where the tag continued at page 0: 1 to 3, or 4 when it did not.
    private func rolledOver(_ bytes: [UInt8]) -> Int {
        let uid = target.uid
        guard uid.count == 7 else { return 4 }
        let header = [uid[0], uid[1], uid[2], NFCAActivation.cascadeTag ^ uid[0] ^ uid[1] ^ uid[2]] + uid[3..<7]
        return (1...3).first { bytes[($0 * 4)...].starts(with: header.prefix(16 - $0 * 4)) } ?? 4
    }

    /// Reads a range of pages at once, or finds out that the tag can't (NTAG213/215/216 data sheet, 10.3).
    private func performFastRead(_ first: Int, _ last: Int) async throws(TagError) {
        do throws(TagError) {
            let retries = fastRead == .usable ? Self.retries : 0
            if case .bytes(let bytes) = try await exchange(.fastRead(first: first, last: last), retries: retries) {
                memory.store(bytes, at: first)
                fastRead = .usable
                return
            }
        } catch {
            guard error.code == .badAnswer || error.code == .unsupported else { throw error }
            if error.code == .badAnswer { isActive = false }
        }
        // Refused, not answered, or of the wrong length: use READ.
        fastRead = .unusable
    }
}

/// Chooses between READ and FAST_READ by their airtime.
///
/// READ returns four pages in 2.06 ms. FAST_READ takes 0.79 ms plus 0.34 ms for each page, so it is faster for
/// everything except exactly four pages. While it is unknown whether the tag has FAST_READ, its first use is the test.
/// That takes no longer than GET_VERSION when the tag does not have it, and no extra time when it does. A tag without
/// it must be woken and selected again, which takes 3.7 ms with the NAK. So FAST_READ is only tried when it saves at
/// least two READs, which is from messages of about 46 bytes on.
struct Type2ReadPlan {
    var timing: FrameTiming
    /// The longest answer that the reader can receive, with its checksum.
    var maximumFrameLength: Int
    var fastRead: Type2Tag.FastRead

    /// The most pages in one request. With the checksum they fit into the 256 bytes of every reader's buffer.
    static let maximumFastReadPages = 60

    /// The number of pages that one FAST_READ may return.
    var fastReadPages: Int {
        min(Self.maximumFastReadPages, (maximumFrameLength - 2) / Type2Memory.pageSize)
    }

    /// Returns the first command to read a run of pages with.
    ///
    /// - Parameters:
    ///   - run: the pages to read, in one sector.
    ///   - end: the page after the last one that may be read. A READ near it starts earlier, so that it does not pass
    ///     it.
    func firstCommand(for run: Range<Int>, end: Int) -> Type2Command {
        let reads = (run.count + 3) / 4
        let sectorEnd = (run.lowerBound / 256 + 1) * 256
        let start = min(run.lowerBound, min(end, sectorEnd) - 4)
        let read = Type2Command.read(max(start, run.lowerBound - 3, sectorEnd - 256))
        guard fastRead != .unusable, fastReadPages > 0 else { return read }
        let count = min(run.count, fastReadPages)
        let fast = Type2Command.fastRead(first: run.lowerBound, last: run.lowerBound + count - 1)
        if fastRead == .unknown {
            let exchanges = (run.count + fastReadPages - 1) / fastReadPages
            guard reads - exchanges >= 2 else { return read }
        }
        return fast.cost(timing) < read.cost(timing) * ((count + 3) / 4) ? fast : read
    }
}
