// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import TagLink

/// A payment application and the two directories that name it (EMV 4.3, Book 1, 12; Book 3, 6.5).
///
/// Its values are `aid`, its name; `fci`, the data of SELECT in A5; `options`, the profile and the locator (82, 94); `record S N`,
/// a record by the short identifier of its file and its number; and objects of GET DATA by tag, such as `9f17`. If `9f36` is one
/// of them, each transaction counts there. `key`, an RSA key (RFC 8017, A.1.2) in DER, answers INTERNAL AUTHENTICATE.
/// `master key`, 16 bytes, makes the cryptograms of GENERATE AC, and `log` has the last ten approved transactions.
struct EMVApplication: StoredApplication {
    static let name = "emv"
    static let continuation: UInt8 = 0xC0
    static let classes: Set<UInt8> = [0x00, 0x80]

    private static let contactDirectory = Array("1PAY.SYS.DDF01".utf8)
    /// The file of the log. A card names it in object 9F4D of `fci`.
    private static let logFile = 11

    static func invalidKey(in stored: [String: [UInt8]]) -> String? {
        if let key = ["aid", "options"].first(where: { stored[$0] == nil }) { return key }
        return stored.first { key, value in
            switch key {
            case "aid": return !(5...16).contains(value.count)
            case "fci", "options", "log": return DataObject.sequence(value) == nil
            // The largest key of EMV has 248 bytes.
            case "key": return value.count > 1400 || !(32...248).contains(modulusLength(of: value) ?? 0)
            case "master key": return value.count != 16
            case "9f36": return value.count != 2
            default:
                let numbers = key.split(separator: " ").dropFirst().compactMap { UInt8($0) }
                if numbers.count == 2 { return key != "record \(numbers[0]) \(numbers[1])" }
                return key.utf8.count != 4 || [UInt8](hexadecimal: key.utf8)?.hexText() != key
            }
        }?.key
    }

    private enum Step { case contactlessDirectory, contactDirectory, selected, initiated, requested, completed }

    @Hidden var stored: [String: [UInt8]]
    var parts = MessageParts()
    private var step = Step.selected

    init(stored: [String: [UInt8]]) { self.stored = stored }

    /// A card from a dump has no keys, and only the contactless directory.
    var names: [[UInt8]] {
        [EMVCard.directoryName, stored["aid"] ?? []] + (stored["key"] == nil ? [] : [Self.contactDirectory])
    }

    mutating func deselect() { (parts, step) = (MessageParts(), .selected) }

    mutating func select(_ command: CardCommand) -> CardAnswer {
        let properties: [UInt8]
        switch command.data {
        case EMVCard.directoryName:
            (step, properties) = (.contactlessDirectory, DataObject(0xBF0C, [entry]).bytes)
        case Self.contactDirectory: (step, properties) = (.contactDirectory, DataObject(0x88, [0x01]).bytes)
        default: properties = stored["fci"] ?? []
        }
        let objects = [DataObject(0x84, command.data), DataObject(0xA5, properties)]
        return CardAnswer(DataObject(0x6F, objects).bytes, status: .success)
    }

    /// The application's entry in a directory: its name, its label and its priority.
    private var entry: DataObject {
        let label = Self.object(0x50, in: stored["fci"]).map { DataObject(0x50, $0) }
        let objects = [DataObject(0x4F, stored["aid"] ?? []), label, DataObject(0x87, [0x01])]
        return DataObject(0x61, objects.compactMap { $0 })
    }

    mutating func execute(_ command: CardCommand) throws(CardStatus) -> [UInt8] {
        switch (step, command.cla, command.ins) {
        case (.contactlessDirectory, _, _): throw .unknownInstruction
        case (_, 0x00, 0xB2): return try record(command)
        case (.contactDirectory, _, _): throw .unknownInstruction
        case (_, 0x80, 0xA8): return try processingOptions(command)
        case (_, 0x80, 0xCA): return try object(command)
        case (_, 0x00, 0x88): return try authenticate(command)
        case (_, 0x80, 0xAE): return try cryptogram(command)
        default: throw .unknownInstruction
        }
    }

    /// GET PROCESSING OPTIONS. The application requests no data from the terminal.
    private mutating func processingOptions(_ command: CardCommand) throws(CardStatus) -> [UInt8] {
        guard command.parameters == 0 else { throw .wrongParameters }
        guard command.data == [0x83, 0x00] else { throw .wrongLength }
        guard step == .selected, counter != [0xFF, 0xFF], let options = stored["options"] else {
            throw .conditionsNotSatisfied
        }
        if stored["9f36"] != nil { stored["9f36"] = (UInt16(high: counter[0], low: counter[1]) + 1).bigEndianBytes }
        step = .initiated
        return DataObject(0x77, options).bytes
    }

    private var counter: [UInt8] { stored["9f36"] ?? [0, 0] }

    private func record(_ command: CardCommand) throws(CardStatus) -> [UInt8] {
        guard command.p2 & 0x07 == 0x04 else { throw .wrongParameters }
        let (file, number) = (Int(command.p2 >> 3), Int(command.p1))
        guard number > 0 else { throw .wrongParameters }
        var record: [UInt8]?
        if step == .contactDirectory {
            record = (file, number) == (1, 1) ? DataObject(0x70, [entry]).bytes : nil
        } else if file == Self.logFile {
            record = DataObject.sequence(stored["log"] ?? [])?.dropFirst(number - 1).first?.value
        } else {
            guard step != .selected else { throw .conditionsNotSatisfied }
            record = stored["record \(file) \(number)"]
        }
        guard let record else { throw .recordNotFound }
        return record
    }

    private func object(_ command: CardCommand) throws(CardStatus) -> [UInt8] {
        guard let value = stored[[command.p1, command.p2].hexText()] else { throw .dataNotFound }
        return DataObject(command.parameters, value).bytes
    }

    /// INTERNAL AUTHENTICATE: dynamic data authentication (Book 2, 6.5). The dynamic number is the transaction counter.
    private func authenticate(_ command: CardCommand) throws(CardStatus) -> [UInt8] {
        guard let key = stored["key"], let length = Self.modulusLength(of: key) else { throw .unknownInstruction }
        guard command.parameters == 0 else { throw .wrongParameters }
        guard step != .selected else { throw .conditionsNotSatisfied }
        guard command.data.count == Self.length(ofList: recordObject(0x9F49) ?? []) else { throw .wrongLength }
        let head = [0x05, 0x01, 0x03, 0x02] + counter
        let signed = head + [UInt8](repeating: 0xBB, count: length - 28)
        guard let hash = try? MessageDigest.sha1.hash(signed + command.data),
            let signature = try? SigningKey(encoded: key).apply(to: [0x6A] + signed + hash + [0xBC], isRSA: true)
        else { throw .executionError }
        return DataObject(0x80, signature).bytes
    }

    /// GENERATE AC: the cryptogram that the terminal requests, over its data, the profile and the counter, with the common
    /// derivation of its key (Book 2, 8.1 and A1.3). After a request to go online (ARQC), the terminal asks once more.
    private mutating func cryptogram(_ command: CardCommand) throws(CardStatus) -> [UInt8] {
        guard let master = stored["master key"] else { throw .unknownInstruction }
        guard [0x00, 0x40, 0x80].contains(command.p1), command.p2 == 0 else { throw .wrongParameters }
        guard step == .initiated || (step == .requested && command.p1 != 0x80) else { throw .conditionsNotSatisfied }
        let list = recordObject(step == .initiated ? 0x8C : 0x8D) ?? []
        guard command.data.count == Self.length(ofList: list) else { throw .wrongLength }
        let profile = Self.object(0x82, in: stored["options"]) ?? []
        let zeros = [UInt8](repeating: 0, count: 5)
        let message = (command.data + profile + counter).paddedWithMark(to: 8)
        guard let key = try? BlockCipher.des(master).encrypt(counter + [0xF0] + zeros + counter + [0x0F] + zeros),
            let code = try? BlockCipher.retailMAC(message, key: key)
        else { throw .executionError }
        step = command.p1 == 0x80 ? .requested : .completed
        if command.p1 == 0x40, let log = DataObject.sequence(stored["log"] ?? []), let format = stored["9f4f"] {
            // The log's format is the list of the first request, and the counter.
            let entry = DataObject(0x70, command.data.prefix(max(0, Self.length(ofList: format) - 2)) + counter)
            stored["log"] = ([entry] + log).prefix(10).flatMap(\.bytes)
        }
        return DataObject(
            0x77,
            [DataObject(0x9F27, [command.p1]), DataObject(0x9F36, counter), DataObject(0x9F26, code)]
        ).bytes
    }

    /// An object in one of the records, which are templates of objects.
    private func recordObject(_ tag: UInt16) -> [UInt8]? {
        let records = stored.filter { $0.key.hasPrefix("record ") }.sorted { $0.key < $1.key }
        return records.lazy.compactMap { Self.object(tag, in: Self.object(0x70, in: $0.value)) }.first
    }

    private static func object(_ tag: UInt16, in objects: [UInt8]?) -> [UInt8]? {
        DataObject.sequence(objects ?? [])?.first { $0.tag == tag }?.value
    }

    /// The number of bytes that a list of tags and lengths requests (Book 3, 5.4).
    private static func length(ofList list: [UInt8]) -> Int {
        var (rest, length) = (list[...], 0)
        while let tag = rest.popFirst() {
            if tag & 0x1F == 0x1F { rest = rest.dropFirst() }
            length += Int(rest.popFirst() ?? 0)
        }
        return length
    }

    /// The length of the modulus, the second number of a private key.
    private static func modulusLength(of key: [UInt8]) -> Int? {
        let numbers = object(0x30, in: key).flatMap { DataObject.sequence($0) } ?? []
        return numbers.dropFirst().first?.value.drop { $0 == 0 }.count
    }

    // MARK: A new card

    // Written by dev/make-emv-test-card.py.

    /// A card for tests, whose certificates an authority of tests issued. The registered identifiers of payment schemes
    /// don't begin with F, the number is one that shops use for tests, and the country and the currency are those for tests.
    static var new: [String: [UInt8]] {
        [
            "aid": "f04f434e4601",
            "fci": """
            50095445535420434152448701015f2d02656e9f1101019f12104f50454e434f52454e46432054455354bf0c059f4d020b0a
            """,
            "options": "8202700094080801020110010300",
            "record 1 1": """
            7081865a0841111111111111115f24034912315f25032001015f280209995f3401019f0702ff009f080200019f420209638c159f
            02069f03069f1a0295055f2a029a039c019f37048d179f02069f03069f1a0295055f2a029a039c019f37048a028e0a0000000000
            0000001f039f0d05fc000000009f0e0500000000009f0f05fc000000009f4a0182
            """,
            "record 1 2": "702657134111111111111111d49122010000000000000f5f2009544553542f434152445f30020201",
            "record 2 1": """
            7081c08f01019f32010392041739e1dd9081b0a2edd8edf4e0e5005bd6aefb224f9c5c5da0ae4ee90017bc36507c1c7d9d006d59
            e1ecc716a6c4521b6c003b7cbc98ab569113431845c526ad1becf6c1e3f60af6f021775de1c23ab42ca8efecf4a95b9cabadab99
            5d0dcfb43a283b3ce1ed8b1e21379649f518ba32e67fec334b3162b755683083db4f265c876f8199572231ec7e737f7c3f90198d
            1b3b2e54d7225c00907e336c5ce3e9da45862a26112919e4e9307976b222c4dd98f40e339b6f2f
            """,
            "record 2 2": """
            7081939381900b364e98bda9cc8afda68ea22b6536da9b9e1a1844f1f6ba8250e10aef2ba7bedb5e4e5d2fb83e4612212e521d8e
            446ad3028bc3872da84dd0970129355d3470a55827e78045cd8df40900ba20e6e53980cda3bfe2ffaefb3f080aa6a78ce56739c1
            826792807c320a755f2d67a8c93a4146ce828a77a09dcd6f4d28ea2a707b52dea5d448e65c3eea1165a4cbece176
            """,
            "record 2 3": """
            7081bb9f4701039f481a05ed7ccba923228dba43a0c74f934e31f181ec10752097828d199f4681907db4063e0651e7b21e659b50
            4d51dc734bd99ef4f2a7ef6551aff6ed5d1be45317cd01e9538a796faeeb0a47b11dde4112968acefa48b9d6f99f7e3426c8cb3c
            4aa1d8005932c61e9ff0c5baa6bd725513978e9a01421ceda687d0ae3e3973e09fb6d8a8857ca3f0ba2f8ea13098a25c646fa2b2
            2dca663d7c3e4d1010db99c3bdd214be2fd1baada3fc9bf65c0bbfbc9f49039f3704
            """,
            "9f13": "0000",
            "9f17": "03",
            "9f36": "0000",
            "9f4f": "9f02069f03069f1a0295055f2a029a039c019f37049f3602",
            "log": "",
            "key": """
            3082025c02010002818100b412e729e77186b9ee9af659c338ffc94b433f95dff4ded72ea2aaf5d656017cf462eac50b99a2b8b9
            9f1a935195d4eba06205f066abe3bfd9a5045981a6339df4466a6575f594441ddaa3b796fd3eb28d4d5b72fa64f6a4d4a41f4456
            bc999e9eefe257806705ed7ccba923228dba43a0c74f934e31f181ec10752097828d19020103028180780c9a1befa1047bf4674e
            e68225ffdb87822a63eaa33f3a1f171ca3e43956534d97472e07bbc1d07bbf670ce10e8df26aec03f599c7ed2a9118ad91011977
            bd83237b4c42fb72a99907284fe8ec5bddc535df4ad4dd799becfd55f1397ed25cc8c69499e1c2a91bcd03ecf30556f2333e75e1
            c01f59cde59d0d876a02bcc1ab024100ed50edbb52a45a552f59f49979b9f354f18bbb4bb32ff3854abb5a2625d0cb9c1388bd5b
            c1ed4da8610447ab0396e81a3401d01e90f5aea233e8091b6a7e1ad1024100c24043b7bed80df088f5f2a63fe0c190f3f0d13707
            e8ccb5a66cc4345aad92775e3d4614ebd5ba9b68417e0b96f466dc8f14acd48e358e074c9420e628e94fc90241009e35f3d23718
            3c38ca3bf8665126a238a107d23277754d038727916ec3e087bd625b28e7d69e33c59602da7202649abc22abe01460a3c9c177f0
            061246febc8b02410081802d2529e55ea05b4ea1c42a95d660a2a08b7a0545ddce6ef32d783c73b6fa3ed3840df28e7c679ad654
            07b9f844930a0dc88db423b404ddb815eec5f0dfdb024100d97c892a87240d34a857f38040c9e5838c9977f56d8496917feea106
            7eda0c79579b1e411e7aa7e24bdde627e086821b51d90f27eec5f9f6241cebd63a07128a
            """,
            "master key": "4f70656e436f72654e46432054455354",
        ].mapValues { [UInt8](hexadecimal: $0.utf8.filter { $0 != 0x0A }) ?? [] }
    }
}
