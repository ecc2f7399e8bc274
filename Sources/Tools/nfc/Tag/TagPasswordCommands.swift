// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import LinuxSupport
import NFCSessions
import TagImages
import TagProtocols

struct TagProtectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "protect",
        abstract: "Protect a tag with a password, for writing, or for reading too.",
        discussion: """
            For NTAG21x and 22x, MIFARE Ultralight EV1, C and AES, ICODE SLIX2,
            ST25TV02K, ST25TV512, ST25DV and FeliCa Lite-S, whose protection can't be
            undone. Where an NTAG22x keeps its protection is partly a guess, so try it on a
            tag that you can lose. It shows what will change, and asks first. On a tag that is
            protected already, give its password to change what it protects. To change
            the password itself, use nfc tag unprotect first.

            Without --from, all that can be protected is, with the lock bits, so
            everybody can read the message, and nobody can change or lock it. If the tag
            leaves in between, it accepts the password or needs none: run the command
            again to complete it.

            The password has four bytes, eight on an ST25, and the key of an Ultralight
            C or AES or a FeliCa Lite-S has 16. It also protects the configuration.
            Write it as hex:01020304 or as text:abcd. Other users can see the words
            of a command, so better use file:PATH or env:NAME, for a file or a variable
            of the environment with one of these; file:- is standard input. Without
            --password, the command asks.

            Examples:
              nfc tag protect --reader pcsc
              nfc tag protect card.nfc --password file:secret --yes
              nfc tag protect card.nfc --password text:abcd --read --tries 5

            \(TagChangeOptions.exit)
            """
    )

    @OptionGroup var options: TagChangeOptions

    @Option(help: "The password: hex:, text:, file: or env:. Default: ask.")
    var password: String?

    @Option(
        help: ArgumentHelp("The answer of the tag to its password, two bytes in hex. Default: 0000.", valueName: "hex")
    )
    var pack: HexArgument?

    @Flag(help: "Protect reading too. Phones can't read the message then.")
    var read = false

    @Option(
        help: ArgumentHelp(
            "The first protected page, or block on Types 3 and 5. Default: the first that can be protected.",
            valueName: "number"
        )
    )
    var from: Int?

    @Option(
        help: ArgumentHelp(
            "After this many wrong passwords in a row, 1 to 7, or up to 1023 on an Ultralight AES, the tag never accepts "
                + "one again; 0 for no limit. Default: as it is.",
            valueName: "n"
        )
    )
    var tries: Int?

    func validate() throws {
        if let pack, pack.bytes.count != 2 { throw ValidationError("--pack takes two bytes, such as abcd.") }
        if let tries, !(0...1023).contains(tries) { throw ValidationError("--tries takes a number from 0 to 1023.") }
        guard from ?? 0 >= 0 else { throw ValidationError("--from takes the number of a page or block.") }
    }

    func run() async throws {
        let secret = try TagPassword.read(password, acknowledgement: pack?.bytes, isNew: true)
        let (from, read, tries) = (from ?? 0, read, tries)
        try await options.carryOut("Hold the tag to protect near the reader.", done: "The tag is protected.") {
            tag,
            performs throws(TagError) in
            try await tag.changeProtection(with: secret, performs) { protection in
                protection.first = from
                protection.protectsReading = read
                if let tries { protection.tries = tries }
            }
        }
    }
}

struct TagUnprotectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unprotect",
        abstract: "Remove the protection by a password, and the password.",
        discussion: """
            For the tags of nfc tag protect, with their password or key. It shows what
            will change, and asks first. If the tag leaves in between, it accepts the
            password or needs none: run the command again to complete it. nfc tag
            protect --help explains how to give the password. To
            use it once, and leave the protection on, see --unlock of nfc tag read,
            write, dump, restore and wipe.

            Examples:
              nfc tag unprotect --reader pcsc
              nfc tag unprotect card.nfc --password file:secret --yes

            \(TagChangeOptions.exit)
            """
    )

    @OptionGroup var options: TagChangeOptions

    @Option(help: "The password: hex:, text:, file: or env:. Default: ask.")
    var password: String?

    func run() async throws {
        let secret = try TagPassword.read(password)
        try await options.carryOut("Hold the protected tag near the reader.", done: "The tag is open.") {
            tag,
            performs throws(TagError) in try await tag.changeProtection(with: secret, performs) { $0 = .none }
        }
    }
}

/// The option of a command that uses a protected tag once.
struct UnlockOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Send the tag's password first: hex:, text:, file: or env:, as nfc tag protect --help explains; or ask.",
            valueName: "password"
        )
    )
    var unlock: String?

    @Option(help: ClassicKeyOptions.help)
    var keys: String?

    /// The keys, and the password if the option is given.
    func opening() throws -> TagCredentials {
        var opening = try ClassicKeyOptions.opening(keys)
        if let unlock { opening.password = try TagPassword.read(unlock == "ask" ? nil : unlock) }
        return opening
    }
}

extension ActivatedTag {
    /// Gives a MIFARE Classic keys to try, and sends a password to the tag, if there is one.
    func open(_ opening: TagCredentials) async throws(TagError) {
        useClassicKeys(opening.keys)
        if let password = opening.password { try await tagWithPassword().unlock(with: password) }
    }

    fileprivate func changeProtection(
        with secret: TagSecret,
        _ performs: Bool,
        _ change: (inout TagProtection) -> Void
    ) async throws(TagError) -> TagChangePlan {
        let tag = try await tagWithPassword()
        let protection = try await tag.changeProtection(with: secret, performs: performs, change)
        // An Ultralight C that needs its key for reading is known only now.
        var plan = await TagChangePlan(self)
        let (old, new) = (protection.old, protection.new)
        if protection.setsPassword {
            let isOn = new.first != nil
            plan.changes.append(TagDifference("password", isOn ? nil : "set", isOn ? "set" : nil))
        }
        let unit = tag.type == .type2 ? "page" : "block"
        for (part, before, after) in [
            ("protection", old.scope(unit), new.scope(unit)), ("tries", old.allowance, new.allowance),
        ] where before != after { plan.changes.append(TagDifference(part, before, after)) }
        if protection.setsPassword, new.first != nil {
            let condition = protection.isRemovable ? " without the password" : ", so it can't be undone"
            plan.notes.append("Nobody can remove this protection" + condition)
        }
        if new.first != nil, TagPassword.isPublic(secret.bytes) {
            plan.notes.append("Everybody knows this password: it is one of new tags")
        }
        if new.tries > 0, new.first != nil {
            let count = RecordText.count(new.tries, "wrong password")
            plan.notes.append("After \(count) in a row, the tag never accepts a password again")
        }
        return plan
    }

    private func tagWithPassword() async throws(TagError) -> any PasswordProtected {
        if let tag = try ndef as? any PasswordProtected { return tag }
        let type = forumTag?.type.map { "a Type \($0.rawValue) tag" }
        throw TagError.noPassword(await productName() ?? type ?? "of another kind")
    }
}

extension TagProtection {
    /// What the password is needed for; nil for nothing.
    fileprivate func scope(_ unit: String) -> String? {
        first.map { "\(protectsReading ? "reading and writing" : "writing"), from \(unit) \($0) on" }
    }

    fileprivate var allowance: String { tries == 0 ? "no limit" : "\(tries) in a row" }
}

/// Reads a password that the user gave.
enum TagPassword {
    /// Whether it is the password of new tags, or the key of a new Ultralight C, in either order of its bytes.
    static func isPublic(_ bytes: [UInt8]) -> Bool {
        ["IEMKAERB!NACUOYF", "BREAKMEIFYOUCAN!"].contains { Array($0.utf8) == bytes } || Set(bytes) == [0]
            || Set(bytes) == [0xFF]
    }

    /// Returns the password that a text describes; with nil, asks for it on the terminal, and twice for a new one. A
    /// message never contains it.
    static func read(
        _ text: String?,
        acknowledgement: [UInt8]? = nil,
        isNew: Bool = false
    ) throws -> TagSecret {
        let bytes = try Secret.read(text, "password", isNew: isNew)
        guard [4, 8, 16].contains(bytes.count) else {
            let count = RecordText.count(bytes.count, "byte")
            let reason = "The password has \(count), but a tag's has four or eight, and a key has 16."
            throw CommandFailure(.usage, "bad-password", reason)
        }
        guard acknowledgement == nil || bytes.count == 4 else {
            throw CommandFailure(.usage, "usage", "--pack belongs to a password of four bytes, not to a key.")
        }
        return TagSecret(bytes, acknowledgement: acknowledgement)
    }
}
