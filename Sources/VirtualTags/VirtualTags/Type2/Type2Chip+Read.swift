// SPDX-License-Identifier: Apache-2.0
import TagLink

extension Type2Chip {
    /// Returns the page in the memory for an address in the current sector; nil when there is none.
    func page(_ address: UInt8) -> Int? {
        guard product.features.contains(.sectors) else { return Int(address) }
        switch sector {
        case 0: return Int(address)
        case 1 where product.pageCount > 256: return 256 + Int(address)
        default: return nil
        }
    }

    /// The end of the readable pages: the end of the memory, or the first page that needs the password.
    private var readableEnd: Int {
        let end = product.readablePageCount
        return latched.protectsReading && !isAuthenticated ? min(end, latched.protectionStart) : end
    }

    /// READ: four pages. After the last readable page it continues at page 0 (MF0ICU1 data sheet, 7.6.4).
    mutating func read(_ address: UInt8) -> Reply {
        if product.features.contains(.sectors), sector == 3 { return readSession(address) }
        guard let first = page(address), first < readableEnd else { return .refusal(.argument) }
        countReading()
        var bytes: [UInt8] = []
        bytes.reserveCapacity(16)
        // A READ does not go on in the next sector.
        let end = first < 256 ? min(readableEnd, 256) : readableEnd
        if first + 4 <= end {
            append(first..<(first + 4), to: &bytes)
        } else if product.features.contains(.sectors) {
            append(first..<end, to: &bytes)
            bytes += Array(repeating: 0, count: 16 - bytes.count)
        } else {
            for offset in 0..<4 {
                let page = (first + offset) % end
                append(page..<(page + 1), to: &bytes)
            }
        }
        return .data(bytes)
    }

    /// FAST_READ: the pages from the first to the last address, both included (NTAG213/215/216 data sheet, 10.3).
    mutating func fastRead(_ start: UInt8, _ end: UInt8) -> Reply {
        guard let first = page(start), let last = page(end), first <= last, last < readableEnd else {
            return .refusal(.argument)
        }
        countReading()
        var bytes: [UInt8] = []
        bytes.reserveCapacity((last - first + 1) * 4)
        append(first..<(last + 1), to: &bytes)
        return .data(bytes)
    }

    /// Appends pages as a reader sees them: the password and its acknowledgement read as 0, and the mirror replaces
    /// bytes.
    private func append(_ pages: Range<Int>, to bytes: inout [UInt8]) {
        let start = bytes.count
        bytes += contents.memory[(pages.lowerBound * 4)..<(pages.upperBound * 4)]
        if let configurationPage = product.configurationPage, product.features.contains(.password) {
            let hidden = pages.clamped(to: (configurationPage + 2)..<(configurationPage + 4))
            for page in hidden {
                let offset = start + (page - pages.lowerBound) * 4
                for index in offset..<(offset + (page == configurationPage + 2 ? 4 : 2)) { bytes[index] = 0 }
            }
        }
        if product.features.contains(.mirror) { layMirror(over: pages, in: &bytes, at: start) }
    }

    /// The session registers of NTAG I2C, in sector 3. There is no activity on I2C.
    private func readSession(_ address: UInt8) -> Reply {
        (0xF8...0xF9).contains(address) ? .data(Array(repeating: 0, count: 16)) : .refusal(.argument)
    }

    /// SECTOR SELECT, first command (NFC Forum T2T 1.2, 5.4).
    mutating func beginSectorSelect(_ argument: UInt8) -> Reply {
        guard argument == 0xFF else { return .refusal(.argument) }
        pending = .sector
        return .acknowledge
    }

    /// SECTOR SELECT, second command. No answer means success.
    mutating func sectorSelect(_ command: [UInt8]) -> Reply {
        guard command.count == 4, command[0] == 0 || command[0] == 3 || (command[0] == 1 && product.pageCount > 256)
        else { return .refusal(.argument) }
        sector = command[0]
        return .silence
    }

    // MARK: Counters

    private static let counterLimit: UInt32 = 0xFF_FFFF

    /// Whether the counter of readings is enabled: NFC_CNT_EN of ACCESS.
    private var countsReadings: Bool {
        product.features.contains(.readingCounter) && configurationAccess & 0x10 != 0
    }

    /// Counts the first READ or FAST_READ after power-up (NTAG213/215/216 data sheet, 8.7).
    mutating func countReading() {
        guard countsReadings, !hasCountedReading else { return }
        hasCountedReading = true
        contents.counters[2] = min(contents.counters[2] + 1, Self.counterLimit)
    }

    /// READ_CNT: three bytes, least significant first.
    func readCounter(_ address: UInt8) -> Reply {
        if product.features.contains(.counters), address < 3 {
            return .data([UInt8](littleEndian: Int(contents.counters[Int(address)]), count: 3))
        }
        guard countsReadings, address == 2 else { return .refusal(.argument) }
        // With NFC_CNT_PWD_PROT, reading the counter needs the password.
        if configurationAccess & 0x08 != 0, !isAuthenticated { return .refusal(.authenticationOrCounter) }
        return .data([UInt8](littleEndian: Int(contents.counters[2]), count: 3))
    }

    /// INCR_CNT: adds to a counter, and refuses an overflow (MF0ULx1 data sheet, 10.6).
    mutating func incrementCounter(_ address: UInt8, by bytes: [UInt8]) -> Reply {
        guard address < 3 else { return .refusal(.argument) }
        let step = UInt32(bytes: bytes[..<3].reversed())
        let sum = contents.counters[Int(address)] + step
        guard sum <= Self.counterLimit else { return .refusal(.authenticationOrCounter) }
        // The counters are protected against tearing: after a power cut they have the old or the new value.
        switch tear {
        case .old: break
        case .mixed(let seed) where seed & 1 == 0: break
        default: contents.counters[Int(address)] = sum
        }
        return .programmed
    }

    // MARK: Mirror

    /// Replaces bytes of the pages by the UID and the counter in ASCII, if the configuration says so (NTAG213/215/216
    /// data sheet, 8.5.7 and 8.6).
    func layMirror(over pages: Range<Int>, in bytes: inout [UInt8], at start: Int) {
        let mode = configuration(0, 0) >> 6
        let firstPage = Int(configuration(0, 2))
        guard mode != 0, firstPage > 3, firstPage <= product.userPages.upperBound else { return }
        let text = mirrorText(mode)
        let position = firstPage * 4 + Int(configuration(0, 0) >> 4 & 0x03)
        let end = (product.userPages.upperBound + 1) * 4
        guard position + text.count <= end else { return }
        for (index, character) in text.enumerated() {
            let offset = position + index - pages.lowerBound * 4
            if offset >= 0, offset < pages.count * 4 { bytes[start + offset] = character }
        }
    }

    /// The 14 digits of the UID, the 6 of the counter, or both with an `x` between them.
    private func mirrorText(_ mode: UInt8) -> [UInt8] {
        let counter = Self.hexadecimal([UInt8](littleEndian: Int(contents.counters[2]), count: 3).reversed())
        let hasCounter = product.features.contains(.readingCounter)
        return switch (mode, hasCounter) {
        case (1, _), (3, false): Self.hexadecimal(contents.uid)
        case (2, true): counter
        case (3, true): Self.hexadecimal(contents.uid) + [UInt8(ascii: "x")] + counter
        default: []
        }
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> [UInt8] {
        bytes.flatMap { (byte: UInt8) -> [UInt8] in [digit(byte >> 4), digit(byte & 0x0F)] }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? 0x30 + value : 0x37 + value
    }
}
