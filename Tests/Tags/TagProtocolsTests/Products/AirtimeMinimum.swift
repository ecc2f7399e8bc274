// SPDX-License-Identifier: Apache-2.0
import TagLink

/// The minimum airtime to detect and read a message after activation, from the frame timings alone.
///
/// The reader in each formula knows the length of the message in advance, which a real reader can't. It still reads the
/// capability container and the length, with the commands of the detection procedure of its type, and nothing twice. The
/// project's targets are relative to these minima.
enum AirtimeMinimum {
    /// What an exchange of whole bytes takes.
    ///
    /// - Parameters:
    ///   - request: the request's bytes without the checksum.
    ///   - answer: the answer's bytes without the checksum.
    static func exchange(_ technology: Technology, _ request: Int, _ answer: Int) -> Airtime {
        let timing = FrameTiming(technology)
        return timing.request(Frame([UInt8](repeating: 1, count: request)))
            + timing.answerDelay
            + timing.response(Frame([UInt8](repeating: 1, count: answer)))
            + timing.nextRequestDelay
    }

    /// How many bytes an NDEF message TLV has, without a terminator.
    static func sizeOfTLV(_ message: Int) -> Int {
        message + (message <= 254 ? 2 : 4)
    }

    /// Type 1: RALL, then for the blocks beyond it the cheaper of READ8 for each and RSEG for the segment.
    ///
    /// The detection procedure is RALL (NFC Forum T1T 1.2, 6.3), though a reader that knows a short message's length
    /// could do with a few READs.
    static func type1(_ message: Int, start: Int, isLarge: Bool) -> Airtime {
        var total = exchange(.nfcA, 7, 122)
        guard isLarge else { return total }
        // Bytes 104 to 127 are not for data.
        let last = start + sizeOfTLV(message) - 1
        let end = last < 104 ? last : last + 24
        // RALL ends at byte 120, and the next block for data is 16.
        for segment in 1..<4 where end >= segment * 128 {
            let blocks = min(16, (end - segment * 128) / 8 + 1)
            total += min(exchange(.nfcA, 14, 9) * blocks, exchange(.nfcA, 14, 129))
        }
        return total
    }

    /// Type 2: READ of page 3, which returns the container and 12 bytes; then the faster of READ and FAST_READ, with at
    /// most 60 pages, for the remaining pages; and SECTOR SELECT at the start of the second sector.
    static func type2(_ message: Int, start: Int, hasFastRead: Bool) -> Airtime {
        let read = exchange(.nfcA, 2, 16)
        let pages = (start + sizeOfTLV(message) + 3) / 4
        guard pages > 7 else { return read }
        func least(_ count: Int) -> Airtime { (hasFastRead ? leastWithFastRead : leastWithRead)[max(0, count)] }
        guard pages > 256 else { return read + least(pages - 7) }
        // The first part is acknowledged with four bits, the second by silence for 1 ms.
        let timing = FrameTiming(.nfcA)
        let select =
            timing.request(Frame([0xC2, 0xFF])) + timing.answerDelay
            + timing.response(Frame(bits: [0x0A], validBitsInLastByte: 4)) + timing.nextRequestDelay
            + timing.request(Frame([1, 0, 0, 0])) + .milliseconds(1)
        return read + least(256 - 7) + select + least(pages - 256)
    }

    /// The least time in which so many pages are read with READ alone, and with FAST_READ too: of a sector and a little more.
    private static let leastWithRead = leastTimes(hasFastRead: false)
    private static let leastWithFastRead = leastTimes(hasFastRead: true)

    private static func leastTimes(hasFastRead: Bool) -> [Airtime] {
        let read = exchange(.nfcA, 2, 16)
        let fastReads = (1...60).map { exchange(.nfcA, 3, $0 * 4) }
        var best = [Airtime.zero]
        for wanted in 1...300 {
            var cost = best[max(0, wanted - 4)] + read
            if hasFastRead {
                for piece in 1...min(60, wanted) { cost = min(cost, best[wanted - piece] + fastReads[piece - 1]) }
            }
            best.append(cost)
        }
        return best
    }

    /// Type 3: CHECK of the attribute block, then Nbr blocks at a time. Polling for 12FC was activation.
    static func type3(_ message: Int, blocksPerRead: Int) -> Airtime {
        func check(_ blocks: Int) -> Airtime { exchange(.nfcF, 14 + 2 * blocks, 13 + 16 * blocks) }
        var rest = (message + 15) / 16
        var total = check(1)
        while rest > 0 {
            let count = min(rest, blocksPerRead)
            total += check(count)
            rest -= count
        }
        return total
    }

    /// Type 4: SELECT the application, SELECT and READ the container, SELECT the NDEF file, and READ the length field
    /// together with the message, in pieces of MLe, or of one block if that is faster.
    ///
    /// The container of mapping version 3 has 17 bytes; its first 15 bytes show this.
    ///
    /// - Parameter isFirst: mapping version 1, whose own application name is selected after the other name fails.
    static func type4(
        _ message: Int,
        maximumRead: Int,
        lengthSize: Int,
        isFirst: Bool = false,
        technology: Technology
    ) -> Airtime {
        // Each side has PCB around its bytes, the card a status word.
        func command(_ bytes: Int, _ data: Int) -> Airtime { exchange(technology, 1 + bytes, 1 + data + 2) }
        var total = command(13, 0) + command(7, 0) + command(5, 15) + command(7, 0)
        if isFirst { total += command(13, 0) }
        if lengthSize == 4 { total += command(5, 2) }
        func read(_ limit: Int) -> Airtime {
            var rest = lengthSize + message
            var time = Airtime.zero
            while rest > 0 {
                let count = min(rest, limit)
                // Beyond 251 bytes an answer takes two blocks, the first of 253 bytes and R(ACK) for the second.
                time +=
                    count <= 251
                    ? command(5, count)
                    : exchange(technology, 6, 1 + 253) + exchange(technology, 1, 1 + count + 2 - 253)
                rest -= count
            }
            return time
        }
        return total + min(read(min(maximumRead, 255)), read(min(maximumRead, 251)))
    }

    /// Type 5: READ MULTIPLE of the first blocks, which have the container and the TLV, then of 32 blocks at most for what
    /// is left, without the UID.
    ///
    /// - Parameter first: how many blocks come first. With four bytes in each, two would do for an empty tag and six for
    ///   a message of 16 bytes; four are as far from the best for an empty tag as from the best for 11 bytes, and no
    ///   other number is less far: see ``type5(knowing:)``.
    static func type5(_ message: Int, start: Int, blockSize: Int, first: Int = 4) -> Airtime {
        // From block 256 on, the place and the count have a byte more each.
        func read(_ blocks: Int, isLong: Bool = false) -> Airtime {
            exchange(.nfcV, isLong ? 6 : 4, 1 + blocks * blockSize)
        }
        let blocks = (start + sizeOfTLV(message) + blockSize - 1) / blockSize
        var total = read(first)
        var place = first
        while place < blocks {
            let count = min(blocks - place, 32, (256 - 3) / blockSize)
            total += read(count, isLong: place >= 256)
            place += count
        }
        return total
    }

    /// Type 5 for a reader that knows the length before its first command: 32 blocks at a time.
    static func type5(knowing message: Int) -> Airtime {
        let blocks = (4 + sizeOfTLV(message) + 3) / 4
        var total = Airtime.zero
        for place in stride(from: 0, to: blocks, by: 32) {
            total += exchange(.nfcV, 4, 1 + 4 * min(32, blocks - place))
        }
        return total
    }
}
