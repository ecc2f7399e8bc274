// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import TagScripts
import Testing
import VirtualTags

/// The reader's side of basic access control and secure messaging, written for tests from ICAO 9303-11.
struct EMRTDTerminal {
    static let zone = """
        P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<
        L898902C36UTO7408122F1204159ZE184226B<<<<<10
        """
    static let selectApplication = "00 a4 04 0c 07 a0 00 00 02 47 10 01"

    let box: CardBox
    private let contents: EMRTDContents
    var encryption: [UInt8] = []
    var authentication: [UInt8] = []
    var counter: UInt64 = 0

    init(_ contents: EMRTDContents) {
        box = CardBox(EMRTDCard(contents))
        self.contents = contents
    }

    /// A terminal that has opened a document.
    static func open(_ contents: EMRTDContents) throws -> EMRTDTerminal {
        var terminal = EMRTDTerminal(contents)
        #expect(terminal.plain(selectApplication) == "90 00")
        try terminal.authenticate()
        return terminal
    }

    /// Sends a command without protection.
    mutating func plain(_ command: String) -> String {
        hexText(box.process(hex(command)))
    }

    mutating func authenticate() throws {
        let information = contents.zone.accessInformation
        try deriveKeys(Array(MessageDigest.sha1.hash(information).prefix(16)))
        let challenge = hex(plain("00 84 00 00 08")).dropLast(2)
        let own = Array(UInt8(1)...8)
        let part = Array(UInt8(0x20)..<0x30)
        let proof = try encrypt(own + challenge + part)
        let message = proof + (try code(proof))
        let answer = hex(plain("00 82 00 00 28 \(hexText(message)) 28"))
        try #require(answer.count == 42)
        try #require(try code(Array(answer[..<32])) == Array(answer[32..<40]))
        let plain = try decrypt(Array(answer[..<32]))
        #expect(Array(plain[..<16]) == challenge + own)
        counter = (plain[4..<8] + plain[12..<16]).reduce(0) { $0 << 8 | UInt64($1) }
        try deriveKeys(zip(plain[16...], part).map { $0 ^ $1 })
    }

    /// Sends a command by secure messaging, and checks the answer's code.
    mutating func send(
        _ header: String,
        _ data: [UInt8] = [],
        length: [UInt8]? = nil,
        extended: Bool = false
    ) throws -> (data: [UInt8], status: String) {
        let header = hex(header)
        let isOdd = header[1] & 1 != 0
        let answer = hex(plain(hexText(try protected(header, data, length: length, extended: extended))))
        let status = hexText(answer.suffix(2))
        guard answer.count > 2 else { return ([], status) }
        counter += 1
        let body = Array(answer.dropLast(12))
        #expect(Array(answer.dropLast(2).suffix(10)) == [0x8E, 0x08] + (try code(block(body))))
        #expect(Array(body.suffix(4)) == [0x99, 0x02] + answer.suffix(2))
        guard body.count > 4 else { return ([], status) }
        #expect(body[0] == (isOdd ? 0x85 : 0x87))
        let head = body[1] < 0x80 ? 2 : 2 + Int(body[1] & 0x7F)
        let padded = try decrypt(Array(body.dropLast(4).dropFirst(isOdd ? head : head + 1)))
        let end = try #require(padded.lastIndex(of: 0x80))
        return (Array(padded[..<end]), status)
    }

    /// A protected command.
    mutating func protected(
        _ header: [UInt8],
        _ data: [UInt8],
        length: [UInt8]?,
        extended: Bool = false
    ) throws -> [UInt8] {
        counter += 1
        var objects: [UInt8] = []
        if !data.isEmpty {
            let isOdd = header[1] & 1 != 0
            let enciphered = try encrypt(padded(data))
            objects +=
                [isOdd ? 0x85 : 0x87, UInt8(enciphered.count + (isOdd ? 0 : 1))] + (isOdd ? [] : [1]) + enciphered
        }
        if let length { objects += [0x97, UInt8(length.count)] + length }
        let body = objects + [0x8E, 0x08] + (try code(block(padded(header) + objects)))
        return header + (extended ? [0, 0] : []) + [UInt8(body.count)] + body + (extended ? [0, 0] : [0])
    }

    /// Reads a file of the application by its short identifier, as a reader does: its head, then the rest.
    mutating func read(_ short: UInt8) throws -> [UInt8] {
        let head = try send("0c b0 \(hexText([0x80 | short])) 00", length: [4])
        #expect(head.status == "90 00")
        var size = 2 + Int(head.data[1])
        if head.data[1] & 0x80 != 0 {
            let count = Int(head.data[1] & 0x7F)
            size = 2 + count + head.data[2..<(2 + count)].reduce(0) { $0 << 8 | Int($1) }
        }
        var file = head.data
        while file.count < size {
            let offset = hexText([UInt8(file.count >> 8), UInt8(file.count & 0xFF)])
            let part = try send("0c b0 \(offset)", length: [UInt8(min(size - file.count, 0xDF))])
            try #require(part.status == "90 00" && !part.data.isEmpty)
            file += part.data
        }
        return file
    }

    private mutating func deriveKeys(_ seed: [UInt8]) throws {
        encryption = Array(try MessageDigest.sha1.hash(seed + [0, 0, 0, 1]).prefix(16))
        authentication = Array(try MessageDigest.sha1.hash(seed + [0, 0, 0, 2]).prefix(16))
    }

    func encrypt(_ data: [UInt8]) throws -> [UInt8] {
        try BlockCipher.des(encryption).encrypt(data, .blockChaining(vector: [0, 0, 0, 0, 0, 0, 0, 0]))
    }

    private func decrypt(_ data: [UInt8]) throws -> [UInt8] {
        try BlockCipher.des(encryption).decrypt(data, .blockChaining(vector: [0, 0, 0, 0, 0, 0, 0, 0]))
    }

    private func block(_ data: [UInt8]) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: counter >> (56 - 8 * $0)) } + data
    }

    func code(_ data: [UInt8]) throws -> [UInt8] {
        try BlockCipher.retailMAC(padded(data), key: authentication)
    }

    private func padded(_ data: [UInt8]) -> [UInt8] {
        data + [0x80] + Array(repeating: 0, count: 7 - data.count % 8)
    }
}

extension EMRTDTerminal {
    private final class Holder {
        var terminal: EMRTDTerminal
        init(_ terminal: EMRTDTerminal) { self.terminal = terminal }
    }

    /// A stage with a document in front of this terminal; a line without a verb is a command as it is.
    ///
    /// `say 0c b0 9e 00 / data / 04` sends a command by secure messaging and answers the data and the status; a fourth
    /// part is for extended lengths. `auth` authenticates, and `file 1e` reads a file and answers its first byte.
    func stage() -> Stage {
        let holder = Holder(self)
        return Stage(
            box,
            names: ["APPLICATION": Self.selectApplication],
            verbs: [
                "auth": { _ in
                    try holder.terminal.authenticate()
                    return "ok"
                },
                "file": { hexText(try holder.terminal.read(hex($0)[0]).prefix(1)) },
                "say": { line in
                    let parts = line.split(separator: "/", omittingEmptySubsequences: false).map { $0.trimmingSpaces() }
                    let length = parts.count > 2 && !parts[2].isEmpty ? hex(parts[2]) : nil
                    let data = parts.count > 1 ? hex(parts[1]) : []
                    let isLong = parts.count > 3
                    let answer = try holder.terminal.send(parts[0], data, length: length, extended: isLong)
                    return (answer.data.isEmpty ? "" : hexText(answer.data) + " ") + answer.status
                },
            ]
        )
    }
}
