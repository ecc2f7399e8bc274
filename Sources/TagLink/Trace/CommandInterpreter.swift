// SPDX-License-Identifier: Apache-2.0

/// Says in words what is sent to a card: ISO/IEC 7816-4 commands, native commands of MIFARE DESFire and NTAG 424 DNA
/// with or without their wrapping, and the commands of a PC/SC reader.
struct CommandInterpreter: Sendable {
    private enum Kind: Sendable {
        case interindustry, wrapped, native
    }

    private var kind = Kind.interindustry

    init() {}

    mutating func meaning(ofCommand octets: [UInt8]) -> String {
        kind = .interindustry
        guard octets.count >= 4 else { return native(octets) }
        let (cla, ins) = (octets[0], octets[1])
        if cla == 0x90, octets[2] == 0, octets[3] == 0, let name = DESFireWords.commands[ins] {
            kind = .wrapped
            return DESFireWords.request(name, ins, Self.data(octets))
        }
        if cla == 0xFF { return APDUWords.reader(octets) }
        // A native command's code is none of the classes that cards take (ISO/IEC 7816-4, 5.1.1).
        if cla >= 0x40, cla < 0x80 || cla >= 0xA0, DESFireWords.commands[cla] != nil { return native(octets) }
        return APDUWords.command(octets, data: Self.data(octets))
    }

    mutating func meaning(ofAnswer octets: [UInt8]) -> String {
        if kind == .native {
            guard let status = octets.first else { return "nothing" }
            return Self.join(octets.count - 1, DESFireWords.status(status))
        }
        guard octets.count >= 2 else { return octets.isEmpty ? "nothing" : "no status word" }
        let word = Int(octets[octets.count - 2]) << 8 | Int(octets[octets.count - 1])
        let status =
            kind == .wrapped && word >> 8 == 0x91
            ? word.hexText(digits: 4).lowercased() + " " + DESFireWords.status(UInt8(word & 0xFF))
            : StatusWords.meaning(of: word)
        return Self.join(octets.count - 2, status)
    }

    private mutating func native(_ octets: [UInt8]) -> String {
        guard let code = octets.first, let name = DESFireWords.commands[code] else {
            return ExchangeInterpreter.size(octets)
        }
        kind = .native
        return DESFireWords.request(name, code, Array(octets.dropFirst()))
    }

    private static func join(_ count: Int, _ status: String) -> String {
        count > 0 ? "\(counted(count, "octet")), \(status)" : status
    }

    /// The data of a command, short or extended, as far as they are there (ISO/IEC 7816-4, 5.1).
    private static func data(_ octets: [UInt8]) -> [UInt8] {
        guard octets.count > 5 else { return [] }
        if octets[4] == 0 {
            guard octets.count > 7 else { return [] }
            return Array(octets[7...].prefix(Int(octets[5]) << 8 | Int(octets[6])))
        }
        return Array(octets[5...].prefix(Int(octets[4])))
    }
}
