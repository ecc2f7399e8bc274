// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import Glibc
import LinuxSupport
import ReaderEmulation
import TagLink
import TextSafety

struct EmulateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "emulate",
        abstract: "Show a tag to other programs, as a reader with the tag on it would.",
        discussion: """
            With --pcsc it is a reader of pcscd, for every PC/SC program. With --pn532
            it is a PN532 on a serial line, for libnfc and nfcpy. For all options, see:
            nfc emulate show --help. To use the system's pcscd, root installs the reader
            once for a user.

            Examples:
              nfc emulate card.nfc --pcsc --start-pcscd
              nfc emulate card.nfc --pn532 /tmp/pn532 --trace
              sudo nfc emulate install --for $USER
            """,
        subcommands: [EmulateShowCommand.self, EmulateInstallCommand.self, EmulateUninstallCommand.self],
        defaultSubcommand: EmulateShowCommand.self
    )
}

struct ReaderInstallationOptions: ParsableArguments {
    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("The user who shows tags, by name or number.", valueName: "user")
    )
    var user: String

    @Option(
        help: ArgumentHelp("Install below this folder instead of in the system, for packages.", valueName: "folder")
    )
    var root: String?

    @Flag(help: "Print one JSON object.")
    var json = false

    func reader() throws -> SystemReader {
        let path = root.map { URL(fileURLWithPath: $0).standardizedFileURL.path }
        return try failing("no-user") { () throws(EmulationError) in SystemReader(try ReaderOwner(user), root: path) }
    }

    func failing<Value>(_ name: String, _ work: () throws(EmulationError) -> Value) throws -> Value {
        do throws(EmulationError) {
            return try work()
        } catch {
            throw CommandFailure(name, error.reason)
        }
    }
}

struct EmulateInstallCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "install",
        abstract: "Add a reader to the system's pcscd, on which a user shows tags. Run as root.",
        discussion: """
            It copies the plain driver to pcscd's driver folder, writes pcscd's
            configuration of the reader, and creates a folder in /run/opencorenfc, now
            and at each start of the system. That folder belongs to the user, the rest
            to root. Then every PC/SC program finds the tags that the user shows with:
            nfc emulate --pcsc

            The driver is refused if it needs libraries other than C's, has a search
            path for libraries, or can be changed by users other than root and the one
            who runs sudo. Build it with dev/build-pcsc-driver. Packages have it in
            lib/opencorenfc.

            Examples:
              sudo nfc emulate install --for $USER
              nfc emulate install --for kiosk --root build/package --driver driver.so

            Exit status: 0 when the reader is installed, 1 when something is refused.
            """
    )

    @OptionGroup var options: ReaderInstallationOptions

    @Option(help: ArgumentHelp("The driver. Default: the one that came with nfc.", valueName: "file"))
    var driver: String?

    @Option(help: ArgumentHelp("The reader's name.", valueName: "name"))
    var readerName: String?

    func run() async throws {
        let reader = try options.reader()
        // The user who ran `sudo`, and who may have built the driver.
        let builder = EnvironmentVariable.value("SUDO_UID").flatMap { UInt32($0) }
        let written = try options.failing("not-installed") { () throws(EmulationError) in
            let path = if let driver { URL(fileURLWithPath: driver).path } else { try SystemReader.findDriver() }
            let plain = try PlainDriver(path: path, builder: builder, checksPath: options.root == nil)
            return try reader.install(plain, readerName: readerName ?? ReaderProfile.showing(.nfcA).name)
        }
        let steps = [
            "To load the reader, restart pcscd: systemctl restart pcscd",
            "Then, as \(reader.owner.name): nfc emulate FILE --pcsc",
        ]
        printResult(
            json: options.json,
            ["ok": true, "user": reader.owner.name, "socket": reader.socketPath, "files": written],
            written.map { "Wrote \($0)" } + (options.root == nil ? steps : [])
        )
    }
}

struct EmulateUninstallCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "uninstall",
        abstract: "Remove a user's reader from the system's pcscd. Run as root.",
        discussion: """
            The driver is removed with the last reader.

            Example:
              sudo nfc emulate uninstall --for $USER

            Exit status: 0 when the reader is removed, 1 when something is refused.
            """
    )

    @OptionGroup var options: ReaderInstallationOptions

    func run() async throws {
        let reader = try options.reader()
        let removed = try options.failing("not-removed") { () throws(EmulationError) in try reader.uninstall() }
        let step =
            removed.isEmpty ? "Nothing was installed." : "To unload the reader, restart pcscd: systemctl restart pcscd"
        printResult(json: options.json, ["ok": true, "files": removed], removed.map { "Removed \($0)" } + [step])
    }
}
