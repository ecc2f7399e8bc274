// SPDX-License-Identifier: Apache-2.0

extension Type2Silicon {
    /// The page in the memory for an address in the present sector, or nil when there is none.
    func page(_ address: UInt8) -> Int? {
        guard product.features.contains(.sectors) else { return Int(address) }
        switch sector {
        case 0: return Int(address)
        case 1 where product.pageCount > 256: return 256 + Int(address)
        default: return nil
        }
    }

    /// Where reading ends: the end of the readable memory, or the first page that needs the password.
    private var readableEnd: Int {
        let end = product.readablePages
        return latched.protectsReading && !isAuthenticated ? min(end, latched.protectionStart) : end
    }

    /// READ: four pages, going on at page 0 after the last readable one (MF0ICU1 data sheet, 7.6.4).
    mutating func read(_ address: UInt8) -> Reply {
        if product.features.contains(.sectors), sector == 3 { return readSession(address) }
        guard let first = page(address), first < readableEnd else { return .refusal(.argument) }
        countReading()
        var octets: [UInt8] = []
        octets.reserveCapacity(16)
        let end = readableEnd
        if first + 4 <= end {
            append(first..<(first + 4), to: &octets)
        } else if product.features.contains(.sectors) {
            append(first..<end, to: &octets)
            octets += Array(repeating: 0, count: 16 - octets.count)
        } else {
            for offset in 0..<4 {
                let page = (first + offset) % end
                append(page..<(page + 1), to: &octets)
            }
        }
        return .data(octets)
    }

    /// FAST_READ: from one page to another, both included (NTAG213/215/216 data sheet, 10.3).
    mutating func fastRead(_ start: UInt8, _ end: UInt8) -> Reply {
        guard let first = page(start), let last = page(end), first <= last, last < readableEnd else {
            return .refusal(.argument)
        }
        countReading()
        var octets: [UInt8] = []
        octets.reserveCapacity((last - first + 1) * 4)
        append(first..<(last + 1), to: &octets)
        return .data(octets)
    }

    /// Appends pages as a reader sees them: password and acknowledgement read as 0, and the mirror is laid over.
    private func append(_ pages: Range<Int>, to octets: inout [UInt8]) {
        let start = octets.count
        octets += contents.memory[(pages.lowerBound * 4)..<(pages.upperBound * 4)]
        if let configurationPage = product.configurationPage, product.features.contains(.password) {
            let hidden = pages.clamped(to: (configurationPage + 2)..<(configurationPage + 4))
            for page in hidden {
                let offset = start + (page - pages.lowerBound) * 4
                for index in offset..<(offset + (page == configurationPage + 2 ? 4 : 2)) { octets[index] = 0 }
            }
        }
        if product.features.contains(.mirror) { layMirror(over: pages, in: &octets, at: start) }
    }

    /// The session registers of NTAG I2C, in sector 3: nothing goes on over I2C.
    private func readSession(_ address: UInt8) -> Reply {
        (0xF8...0xF9).contains(address) ? .data(Array(repeating: 0, count: 16)) : .refusal(.argument)
    }

    /// SECTOR SELECT, first half (NFC Forum T2T 1.2, 5.4).
    mutating func beginSectorSelect(_ argument: UInt8) -> Reply {
        guard argument == 0xFF else { return .refusal(.argument) }
        pending = .sector
        return .acknowledge
    }

    /// SECTOR SELECT, second half: silence is the acknowledgement.
    mutating func sectorSelect(_ command: [UInt8]) -> Reply {
        guard command.count == 4, command[0] == 0 || command[0] == 3 || (command[0] == 1 && product.pageCount > 256)
        else { return .refusal(.argument) }
        sector = command[0]
        return .silence
    }
}
