// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import LinuxSupport
import NFCReaders
import NFCSessions
import TagImages
import TagLink
import TagProtocols

struct DESFireCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "desfire",
        abstract: "Show and change the applications, files and keys of a MIFARE DESFire.",
        discussion: """
            For MIFARE DESFire EV1 and later. What everybody may do needs no key. For
            the rest, --key proves a key to the card: AES, or another kind with
            --cipher. Write it as hex:… or 0x…; other users can see the words of a
            command, so better use file:PATH or env:NAME, for a file or a variable of
            the environment with one of these, or ask.

            An application has an AID of three bytes, such as 000001. Without --app, a
            key is the card's own, which is DES and zeros on a new card: --cipher des.
            A new application has keys of zeros.

            Examples:
              nfc desfire info
              nfc desfire create card.json --app 00f123 --keys 2
              nfc desfire create card.json --app 00f123 --file 1 --size 64
              nfc desfire write card.json --app 00f123 --file 1 --hex 48656c6c6f
              nfc desfire read card.json --app 00f123 --file 1
            """,
        subcommands: [
            DESFireInfoCommand.self, DESFireReadCommand.self, DESFireWriteCommand.self, DESFireCreateCommand.self,
            DESFireDeleteCommand.self, DESFireKeyCommand.self, DESFireFormatCommand.self,
        ]
    )
}

struct DESFireInfoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: "Show the applications, files, rights and key versions.",
        discussion: """
            What the card does not show without a key is marked; --key with the card's
            key, and --app with an application's, shows more.

            Examples:
              nfc desfire info
              nfc desfire info card.json --json

            \(TagSourceHelp.exit)
            """
    )

    @OptionGroup var source: TagSourceOptions

    @OptionGroup var key: DESFireKeyOptions

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() async throws {
        let (key, app) = (try key.proof(), key.app?.value)
        let (report, _) = try await source.read(done: "The card was read.") { tag throws(TagError) in
            var session = try await tag.desfire()
            return try await DESFireInspection(of: tag, &session, app: app, key: key)
        }
        printResult(json: json, report.object, report.lines)
    }
}

struct DESFireReadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "read",
        abstract: "Read a file.",
        discussion: """
            It prints the bytes in hex, the records from the oldest to the newest, or
            the value; --out saves the bytes.

            Examples:
              nfc desfire read --app 000001 --file 2 --out message.bin
              nfc desfire read card.json --app 00f123 --file 1 --key file:key.txt

            \(TagSourceHelp.exit)
            """
    )

    @OptionGroup var source: TagSourceOptions

    @OptionGroup var key: DESFireKeyOptions

    @Option(help: ArgumentHelp("The number of the file, 0 to 31.", valueName: "n"))
    var file: UInt8

    @Option(help: ArgumentHelp("Save the bytes in this file.", valueName: "file"))
    var out: String?

    @Flag(help: "Print one JSON object.")
    var json = false

    func validate() throws {
        try key.checkApplication()
        try OutputTarget.check(image: source.image, out: out, json: json)
    }

    func run() async throws {
        let (key, app, file) = (try key.proof(), key.app?.value, file)
        let ((settings, bytes), _) = try await source.read(done: "The card was read.") { tag throws(TagError) in
            var session = try await tag.desfire(app, key)
            return (try await session.settings(of: file), try await session.read(file))
        }
        if let out { try OutputTarget(out).write(bytes, readers: .everyone) }
        let value = settings.value(of: bytes)
        let object: JSONObject = ["ok": true, "file": Int(file), "data_hex": bytes.hexText(), "value": value]
        printResult(json: json, beside: out, object, out == nil ? settings.lines(of: bytes) : [])
    }
}

struct DESFireWriteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "write",
        abstract: "Write bytes to a file, add a record, or change a value.",
        discussion: """
            A backup file, a record and a value have all of the change or nothing. If
            the card leaves while a standard file is written, write it again.

            Examples:
              nfc desfire write --app 00f123 --file 1 --hex 48656c6c6f --key file:key.txt
              nfc desfire write card.json --app 00f123 --file 1 --in data.bin --offset 16
              nfc desfire write --app 00f123 --file 3 --add=-5 --key file:key.txt

            \(TagChangeOptions.exit)
            """
    )

    @OptionGroup var options: TagChangeOptions

    @OptionGroup var key: DESFireKeyOptions

    @Option(help: ArgumentHelp("The number of the file, 0 to 31.", valueName: "n"))
    var file: UInt8

    @Option(help: ArgumentHelp("The bytes.", valueName: "hex"))
    var hex: HexArgument?

    @Option(
        name: .customLong("in"),
        help: ArgumentHelp("A file with the bytes; - for standard input.", valueName: "file")
    )
    var input: String?

    @Option(help: ArgumentHelp("Where the bytes begin in the file, or in the record.", valueName: "n"))
    var offset = 0

    @Option(help: ArgumentHelp("Add this to a value; less than 0 to subtract.", valueName: "n"))
    var add: Int32?

    func validate() throws {
        try key.checkApplication()
        guard [hex == nil, input == nil, add == nil].count(where: { !$0 }) == 1 else {
            throw ValidationError("Give the bytes, --hex HEX or --in FILE, or a change of a value, --add N.")
        }
        guard (0..<1 << 24).contains(offset) else { throw ValidationError("--offset must be 0 to 16777215.") }
    }

    func run() async throws {
        let (file, offset) = (file, offset)
        if let add {
            return try await options.change(key, "The value is changed.") { session, plan, performs throws(TagError) in
                let old = try? await session.read(file).littleEndian(at: 0, count: 4)
                let value = old.map { Int(Int32(truncatingIfNeeded: $0)) }
                let new = value.map { "\($0 + Int(add))" } ?? "\(add) more"
                plan.changes.append(TagDifference("file \(file)", value.map(String.init), new))
                if performs { try await session.add(add, to: file) }
            }
        }
        let bytes = try hex?.bytes ?? InputFile.named(input ?? "-", limit: 1 << 20).readToEnd()
        guard !bytes.isEmpty else { throw CommandFailure(.usage, "usage", "There are no bytes to write.") }
        try await options.change(key, "The file is written.") { session, plan, performs throws(TagError) in
            let settings = try await session.settings(of: file)
            let name = "file \(file)"
            if let size = settings.size {
                guard offset + bytes.count <= size else {
                    throw TagError(
                        .unsupported,
                        "File \(file) has \(size) bytes, and these end at \(offset + bytes.count)."
                    )
                }
                let old = try? await session.read(file)
                if old.map({ Array($0[offset..<offset + bytes.count]) == bytes }) == true { return }
                plan.changes.append(
                    TagDifference("\(name), \(offset)", old?[offset..<offset + bytes.count].hexText(), bytes.hexText())
                )
            } else {
                plan.changes.append(TagDifference("\(name), new record", nil, bytes.hexText()))
            }
            if performs { try await session.write(bytes, to: file, at: offset) }
        }
    }
}

struct DESFireCreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Create an application, or a file in one.",
        discussion: """
            Without --file it creates the application, with keys of zeros: change them
            with nfc desfire key. With --file it creates a file in the application. Its
            rights are four hex digits: the keys that read, write, do both, and change
            the rights; e stands for everybody, f for nobody.

            Examples:
              nfc desfire create --app 00f123 --keys 2
              nfc desfire create --app 00f123 --file 1 --size 64 --rights e000
              nfc desfire create --app 00f123 --file 2 --size 16 --records 10 --cyclic
              nfc desfire create --app 00f123 --file 3 --value 0...500

            \(TagChangeOptions.exit)
            """
    )

    @OptionGroup var options: TagChangeOptions

    @OptionGroup var key: DESFireKeyOptions

    @Option(help: ArgumentHelp("The number of keys of the new application, 1 to 14.", valueName: "n"))
    var keys = 1

    @Option(
        help: ArgumentHelp(
            "What its keys allow. Default: 0f, everybody lists and creates files, key 0 changes all.",
            valueName: "hex"
        )
    )
    var settings: HexArgument?

    @Option(help: ArgumentHelp("The number of the new file, 0 to 31.", valueName: "n"))
    var file: UInt8?

    @Option(help: ArgumentHelp("The size of the new file, or of its records, in bytes.", valueName: "n"))
    var size: Int?

    @Option(help: ArgumentHelp("The most records of the new file.", valueName: "n"))
    var records: Int?

    @Flag(help: "The newest record replaces the oldest.")
    var cyclic = false

    @Flag(help: "The file's writes take effect as a whole or not at all.")
    var backup = false

    @Option(help: ArgumentHelp("A new file with a value in this range, such as 0...500.", valueName: "range"))
    var value: String?

    @Option(help: ArgumentHelp("The file's rights. Default: eee0.", valueName: "hex"))
    var rights: HexArgument?

    @Option(help: "How the file's data are protected on their way: plain, mac or encrypted.")
    var protection: DESFireProtection = .plain

    func validate() throws {
        try key.checkApplication()
        guard (1...14).contains(keys) else { throw ValidationError("--keys must be 1 to 14.") }
        if let settings, settings.bytes.count != 1 { throw ValidationError("--settings takes one byte, such as 0f.") }
        if let rights, rights.bytes.count != 2 {
            throw ValidationError("--rights takes four hex digits, such as e000.")
        }
        if file != nil { _ = try kind() }
    }

    private func kind() throws -> DESFireFileSettings.Kind {
        let sizes = 1..<1 << 24
        if let value {
            let bounds = value.split(separator: "...").compactMap { Int32($0) }
            guard bounds.count == 2, bounds[0] <= bounds[1] else {
                throw ValidationError("--value takes the smallest and the largest value, such as 0...500.")
            }
            return .value(lower: bounds[0], upper: bounds[1], limitedCredit: false)
        }
        guard let size, sizes.contains(size) else {
            throw ValidationError("Give the size of the new file: --size N, from 1 to 16777215.")
        }
        guard let records else { return backup ? .backup(size: size) : .standard(size: size) }
        guard sizes.contains(records) else { throw ValidationError("--records must be 1 to 16777215.") }
        return cyclic
            ? .cyclic(size: size, maximum: records, count: 0) : .linear(size: size, maximum: records, count: 0)
    }

    func run() async throws {
        guard let app = key.app?.value else { return }
        let (keys, kind, settings) = (keys, key.cipher.kind, settings?.bytes[0] ?? 0x0F)
        guard let file else {
            return try await options.change(key, ofCard: true, "The application is created.") {
                session,
                plan,
                performs throws(TagError) in
                if let all = try? await session.applications(), all.contains(app) {
                    throw TagError(.unsupported, "The card has application \(DESFireInspection.name(app)) already.")
                }
                let what = "\(RecordText.count(keys, "\(kind.name) key"))"
                plan.changes.append(TagDifference("application \(DESFireInspection.name(app))", nil, what))
                plan.notes.append("Its keys are zeros. Change them with nfc desfire key")
                if performs { try await session.createApplication(app, settings: settings, keys: keys, kind) }
            }
        }
        let rights = rights.map { UInt16(bytes: $0.bytes) } ?? 0xEEE0
        let new = DESFireFileSettings(kind: try self.kind(), protection: protection, rights: rights)
        try await options.change(key, "The file is created.") { session, plan, performs throws(TagError) in
            if let all = try? await session.files(), all.contains(file) {
                throw TagError(.unsupported, "The application has file \(file) already.")
            }
            plan.changes.append(TagDifference("file \(file)", nil, new.words))
            if performs { try await session.createFile(file, new) }
        }
    }
}

struct DESFireDeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete an application, or a file of one, with all that it holds.",
        discussion: """
            An application is deleted with the card's key; its memory comes back only
            with nfc desfire format.

            Examples:
              nfc desfire delete --app 00f123 --key ask
              nfc desfire delete card.json --app 00f123 --file 1 --yes

            \(TagChangeOptions.exit)
            """
    )

    @OptionGroup var options: TagChangeOptions

    @OptionGroup var key: DESFireKeyOptions

    @Option(help: ArgumentHelp("The number of the file, 0 to 31.", valueName: "n"))
    var file: UInt8?

    func validate() throws {
        try key.checkApplication()
    }

    func run() async throws {
        guard let app = key.app?.value else { return }
        guard let file else {
            return try await options.change(key, ofCard: true, "The application is deleted.") {
                session,
                plan,
                performs throws(TagError) in
                plan.changes.append(TagDifference("application \(DESFireInspection.name(app))", "all files", nil))
                if performs { try await session.deleteApplication(app) }
            }
        }
        try await options.change(key, "The file is deleted.") { session, plan, performs throws(TagError) in
            let settings = try await session.settings(of: file)
            plan.changes.append(TagDifference("file \(file)", settings.words, nil))
            if performs { try await session.deleteFile(file) }
        }
    }
}

struct DESFireKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Change a key.",
        discussion: """
            It needs the key that may change keys (--key, mostly key 0), and the old key
            unless that is the one to change. Without --app it is the card's own key.
            Keep the new key: nothing can replace it.

            Examples:
              nfc desfire key --app 00f123 --number 1 --new file:new.txt \\
                --key hex:00000000000000000000000000000000

            \(TagChangeOptions.exit)
            """
    )

    @OptionGroup var options: TagChangeOptions

    @OptionGroup var key: DESFireKeyOptions

    @Option(help: ArgumentHelp("The number of the key to change. Default: that of --key.", valueName: "n"))
    var number: UInt8?

    @Option(help: "The new key: hex:, file: or env:. Default: ask.")
    var new: String?

    @Option(help: "The old key. Default: that of --key, or zeros for another number.")
    var old: String?

    @Option(help: ArgumentHelp("The version of the new AES key, 0 to 255.", valueName: "n"))
    var keyVersion: UInt8 = 1

    func validate() throws {
        if let number, number > 13 { throw ValidationError("--number must be 0 to 13.") }
        guard key.key != nil else { throw ValidationError("Give the key that may change keys: --key, or --key ask.") }
    }

    func run() async throws {
        let kind = key.cipher.kind
        let new = try key.secret(try Secret.read(new, "key", isNew: true))
        let zeros = [UInt8](repeating: 0, count: kind == .tripleDES ? 24 : 16)
        let old = try key.secret(try old.map { try Secret.read($0, "key") } ?? zeros)
        let (number, version, isOfCard) = (number ?? key.keyNumber, keyVersion, key.app == nil)
        try await options.change(key, "The key is changed.") { session, plan, performs throws(TagError) in
            let present = try await session.keyVersion(number)
            let name = kind == .aes ? "\(version)" : "of the new key"
            plan.changes.append(TagDifference("key \(number)", "version \(present)", "another key, version \(name)"))
            plan.notes.append("Nobody can change this key without knowing it")
            if performs { try await session.changeKey(number, from: old, to: new, version: version, ofCard: isOfCard) }
        }
    }
}

struct DESFireFormatCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "format",
        abstract: "Delete all applications. The card keeps its own key.",
        discussion: """
            It needs the card's key. To make the card an NDEF tag, use nfc tag format.

            Examples:
              nfc desfire format --key ask

            \(TagChangeOptions.exit)
            """
    )

    @OptionGroup var options: TagChangeOptions

    @OptionGroup var key: DESFireKeyOptions

    func validate() throws {
        guard key.app == nil else { throw ValidationError("All applications are deleted. Leave out --app.") }
    }

    func run() async throws {
        try await options.change(key, "All applications are deleted.") { session, plan, performs throws(TagError) in
            let applications = try await session.applications()
            plan.changes += applications.map {
                TagDifference("application \(DESFireInspection.name($0))", "all files", nil)
            }
            if performs { try await session.format() }
        }
    }
}

// MARK: Options

/// The application, and a key that is proved to the card.
struct DESFireKeyOptions: ParsableArguments {
    enum Cipher: String, ExpressibleByArgument, CaseIterable {
        case aes, des
        case tripleDES = "3des"

        var kind: DESFireSecret.Kind {
            switch self {
            case .aes: .aes
            case .des: .des
            case .tripleDES: .tripleDES
            }
        }
    }

    struct ApplicationArgument: ExpressibleByArgument {
        let value: UInt32

        init?(argument: String) {
            guard argument.utf8.count == 6, let value = UInt32(argument, radix: 16), value > 0 else { return nil }
            self.value = value
        }
    }

    @Option(help: ArgumentHelp("The AID of the application, six hex digits.", valueName: "aid"))
    var app: ApplicationArgument?

    @Option(help: "The key to prove: hex:, file:, env: or ask. Default: none.")
    var key: String?

    @Option(help: ArgumentHelp("The number of this key.", valueName: "n"))
    var keyNumber: UInt8 = 0

    @Option(help: "The kind of keys: aes; des, also with two keys; 3des, with three.")
    var cipher: Cipher = .aes

    func checkApplication() throws {
        guard app != nil else { throw ValidationError("Name the application: --app, with six hex digits.") }
    }

    /// The key with its number; nil if none is given.
    func proof() throws -> (number: UInt8, key: DESFireSecret)? {
        guard let key else { return nil }
        return (keyNumber, try secret(try Secret.read(key == "ask" ? nil : key, "key")))
    }

    func secret(_ bytes: [UInt8]) throws -> DESFireSecret {
        guard let secret = DESFireSecret(cipher.kind, bytes) else {
            let wanted = cipher == .tripleDES ? "24 bytes" : cipher == .des ? "8 or 16 bytes" : "16 bytes"
            let count = RecordText.count(bytes.count, "byte")
            throw CommandFailure(
                .usage,
                "bad-key",
                "The key has \(count), but a key of --cipher \(cipher.rawValue) has \(wanted)."
            )
        }
        return secret
    }
}

extension DESFireProtection: ExpressibleByArgument {
    public init?(argument: String) {
        let protections: [String: DESFireProtection] = ["plain": .plain, "mac": .maced, "encrypted": .enciphered]
        guard let protection = protections[argument] else { return nil }
        self = protection
    }

    public var defaultValueDescription: String { name }

    /// The word for the protection in options and in JSON.
    var name: String {
        switch self {
        case .plain: "plain"
        case .maced: "mac"
        case .enciphered: "encrypted"
        }
    }
}

extension TagChangeOptions {
    /// Carries out a change in a session of the application, or of the card itself.
    fileprivate func change(
        _ options: DESFireKeyOptions,
        ofCard isOfCard: Bool = false,
        _ done: String,
        _ work:
            @escaping @Sendable (inout DESFireSession, inout TagChangePlan, Bool) async throws(TagError) -> Void
    ) async throws {
        let (key, app) = (try options.proof(), isOfCard ? nil : options.app?.value)
        try await carryOut("Hold the card near the reader.", done: done) { tag, performs throws(TagError) in
            // The plan reads the product's name, which an authentication does not survive on all cards.
            var plan = await TagChangePlan(tag)
            var session = try await tag.desfire(app, key)
            try await work(&session, &plan, performs)
            return plan
        }
    }
}
