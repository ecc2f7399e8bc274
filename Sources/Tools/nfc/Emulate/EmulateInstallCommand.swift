// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import Glibc
import ReaderEmulation
import SystemLibrary
import TagLink

/// `nfc emulate`.
struct EmulateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "emulate",
        abstract: "Show a tag to other programs, as a reader with the tag on it would.",
        discussion: """
            With --pcsc it is a reader of pcscd, for every PC/SC program; with --pn532
            a PN532 on a serial line, for libnfc and nfcpy. All options: nfc emulate show
            --help. For the pcscd of the system, root installs the reader once for a user.

            Examples:
              nfc emulate --image card.nfc --pcsc --start-pcscd
              nfc emulate --image card.nfc --pn532 /tmp/pn532 --trace
              sudo nfc emulate install --for $USER
            """,
        subcommands: [EmulateShowCommand.self, EmulateInstallCommand.self, EmulateUninstallCommand.self],
        defaultSubcommand: EmulateShowCommand.self
    )
}

/// Who gets a reader, and where.
struct ReaderInstallationOptions: ParsableArguments {
    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("The user who shows tags, by name or number.", valueName: "user")
    )
    var user: String

    @Option(
        help: ArgumentHelp("Install below this folder, as packagers do, and not in the system.", valueName: "folder")
    )
    var root: String?

    @Flag(help: "Print one JSON object.")
    var json = false

    /// The reader.
    func reader() throws(CommandFailure) -> SystemReader {
        let path = root.map { URL(fileURLWithPath: $0).standardizedFileURL.path }
        do throws(EmulationError) {
            return SystemReader(try ReaderOwner(user), root: path)
        } catch {
            throw CommandFailure(.refused, "no-user", error.reason)
        }
    }
}

/// `nfc emulate install`.
struct EmulateInstallCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "install",
        abstract: "Give the system's pcscd a reader that a user shows tags on. Run as root.",
        discussion: """
            It copies the plain driver to pcscd's folder for drivers, writes pcscd's lines
            for the reader, and makes a folder in /run/opencorenfc that is the user's, at
            each start of the system too. All of it is root's, but for that folder. From
            then on every PC/SC program finds what the user shows with: nfc emulate --pcsc

            The driver is refused when it needs other libraries than C's, says where to
            look for them, or can be changed by another user than root and the one who runs
            sudo. Build it with dev/build-pcsc-driver; packages have it in lib/opencorenfc.

            Examples:
              sudo nfc emulate install --for $USER
              nfc emulate install --for kiosk --root build/package --driver driver.so

            Exit status: 0 when it is installed, 1 when something is refused.
            """
    )

    @OptionGroup var options: ReaderInstallationOptions

    @Option(help: ArgumentHelp("The driver; else the one that came with nfc.", valueName: "file"))
    var driver: String?

    @Option(help: ArgumentHelp("The reader's name.", valueName: "name"))
    var readerName: String?

    func run() async throws {
        try await reportingFailure(json: options.json) { () throws(CommandFailure) in
            let reader = try options.reader()
            let written: [String]
            do throws(EmulationError) {
                let path = if let driver { URL(fileURLWithPath: driver).path } else { try SystemReader.findDriver() }
                let plain = try PlainDriver(path: path, builder: Self.builder, checksPath: options.root == nil)
                written = try reader.install(plain, readerName: readerName ?? ReaderProfile.showing(.nfcA).name)
            } catch {
                throw CommandFailure(.refused, "not-installed", error.reason)
            }
            report(reader, written)
        }
    }

    /// The user who ran `sudo`: the driver was built by nobody else.
    private static var builder: UInt32? { EnvironmentVariable.value("SUDO_UID").flatMap { UInt32($0) } }

    private func report(_ reader: SystemReader, _ written: [String]) {
        guard options.json else {
            for path in written { printLine("Wrote \(path)") }
            guard options.root == nil else { return }
            printLine("pcscd has the reader from its next start on: systemctl restart pcscd")
            return printLine("Then, as \(reader.owner.name): nfc emulate --image FILE --pcsc")
        }
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("ok", true)
        writer.member("user", reader.owner.name)
        writer.member("socket", reader.socketPath)
        writer.key("files")
        writer.beginArray()
        for path in written { writer.value(path) }
        writer.endArray()
        writer.endObject()
        writer.printLine()
    }
}

/// `nfc emulate uninstall`.
struct EmulateUninstallCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "uninstall",
        abstract: "Take a user's reader away from the system's pcscd. Run as root.",
        discussion: """
            The driver goes with the last reader.

            Example:
              sudo nfc emulate uninstall --for $USER

            Exit status: 0 when nothing of it is left, 1 when something is refused.
            """
    )

    @OptionGroup var options: ReaderInstallationOptions

    func run() async throws {
        try await reportingFailure(json: options.json) { () throws(CommandFailure) in
            let reader = try options.reader()
            let removed: [String]
            do throws(EmulationError) {
                removed = try reader.uninstall()
            } catch {
                throw CommandFailure(.refused, "not-removed", error.reason)
            }
            report(removed)
        }
    }

    private func report(_ removed: [String]) {
        guard options.json else {
            for path in removed { printLine("Removed \(path)") }
            return printLine(
                removed.isEmpty ? "Nothing was installed." : "pcscd lets go of it when it ends: systemctl restart pcscd"
            )
        }
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("ok", true)
        writer.key("files")
        writer.beginArray()
        for path in removed { writer.value(path) }
        writer.endArray()
        writer.endObject()
        writer.printLine()
    }
}
