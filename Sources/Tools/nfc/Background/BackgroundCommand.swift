// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import BackgroundTagReading
import Foundation
import LinkDelivery
import LinuxSupport
import TextSafety
import UserBus

struct BackgroundCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "background",
        abstract: "Control nfcd, the service that reads tags while no app does.",
        discussion: """
            Examples:
              nfc background enable
              nfc background status
              nfc background doctor
            """,
        subcommands: [
            BackgroundEnableCommand.self, BackgroundDisableCommand.self, BackgroundRunCommand.self,
            BackgroundStatusCommand.self, BackgroundDoctorCommand.self,
        ]
    )
}

struct BackgroundRunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run the service here, until Ctrl-C.",
        discussion: """
            All options go to nfcd. See: nfc background run --help

            Examples:
              nfc background run
              nfc background run --tags tags/ --log-content
            """
    )

    @Argument(parsing: .captureForPassthrough, help: "Options of nfcd.")
    var options: [String] = []

    func run() async throws { throw CommandProcess.become(try ServiceInstallation.program.path(), options) }
}

struct BackgroundStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show whether tags are read now, and if not, why.",
        discussion: """
            Each condition is shown with its source, and with what nfcd assumes when
            the system does not report it.

            Exit status: 0 when tags are read, 3 when no reader answers, 1 when
            something else prevents reading, or when nfcd is not running.
            """
    )

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() async throws {
        guard let (text, status) = try RunningService.status() else {
            let message = "nfcd is not running. Start it with: nfc background enable, or: nfc background run"
            throw CommandFailure("not-running", message)
        }
        if json {
            StandardOutput.write("\(JSONText.line(text))\n".utf8)
        } else {
            for line in status.lines { printLine(line) }
        }
        guard status.reading else { throw ExitCode(status.hasReader ? 1 : CommandFailure.Status.noReader.rawValue) }
    }
}

enum RunningService {
    private static let name = "org.opencorenfc.Background"

    /// Calls a method of the service without starting it. The service has `limit` seconds to answer.
    ///
    /// - Returns: the answer; nil if the service is not running.
    /// - Throws: ``CommandFailure`` with `no-bus` if there is no bus, or `no-answer` if the service does not answer.
    static func ask(_ method: String, _ arguments: [BusValue] = [], within limit: UInt64 = 2) throws -> String? {
        let object = BusCall.Object(name, "/org/opencorenfc/Background", name + "1")
        do throws(BusError) {
            let bus = try BusConnection(.user)
            guard try bus.hasOwner(name) else { return nil }
            return try bus.ask(BusCall(object, method, arguments), within: .seconds(limit)).first?.text ?? ""
        } catch {
            guard ![.libraryMissing, .noBus, .silentBus].contains(error.code) else { throw error }
            throw CommandFailure("no-answer", "\(error.reason) See: journalctl --user -u nfcd")
        }
    }

    /// Whether the service is running, even if it does not answer.
    static var isRunning: Bool {
        guard let bus = try? BusConnection(.user) else { return false }
        return (try? bus.hasOwner(name)) == true
    }

    /// Asks the service for its status.
    ///
    /// - Returns: the answer, as text and decoded; nil if the service is not running.
    /// - Throws: ``CommandFailure`` with `bad-answer` if the answer can't be decoded, or as ``ask(_:_:within:)``.
    static func status() throws -> (text: String, status: ServiceStatus)? {
        guard let text = try ask("Status") else { return nil }
        guard let status = ServiceStatus(text) else {
            throw CommandFailure(
                "bad-answer",
                """
                The program with nfcd's name on the bus sent a status that can't be read. It is another version of nfcd, \
                or another program. Start nfcd again: systemctl --user restart nfcd
                """
            )
        }
        return (text, status)
    }
}

struct ServiceStatus: Decodable {
    struct Condition: Decodable {
        var condition: String
        var met: Bool
        var source: String
    }

    var reading: Bool
    var locked: Bool
    /// Whether logind does not answer; nil if the service is an older version.
    var silentLogin: Bool?
    /// The screen savers that do not answer; nil if the service is an older version.
    var silentSavers: [String]?
    var waiting: Int
    var conditions: [Condition]
    /// A sentence that explains why the service can't save what it reads; nil if it can.
    var inboxProblem: String?

    private enum CodingKeys: String, CodingKey {
        case reading, locked, waiting, conditions
        case silentLogin = "silent_login"
        case silentSavers = "silent_savers"
        case inboxProblem = "inbox_problem"
    }

    /// The maximum size of an answer in bytes.
    private static let maximumSize = 1 << 20

    /// Decodes the service's answer; nil if that fails.
    init?(_ text: String) {
        guard text.utf8.count <= Self.maximumSize,
            let status = try? JSONDecoder().decode(Self.self, from: Data(text.utf8)), status.waiting >= 0
        else { return nil }
        self = status
    }

    /// The names of programs that do not report whether the screen is locked.
    var silent: [String] { (silentLogin == true ? ["logind"] : []) + (silentSavers ?? []) }

    var reader: Condition? { conditions.first { $0.condition == "reader" } }

    var hasReader: Bool { reader?.met ?? true }

    var lines: [String] {
        var lines = [reading ? "Tags are read." : "Tags are not read."]
        for condition in conditions {
            let name = condition.condition.padding(toLength: 16, withPad: " ", startingAt: 0)
            lines.append("  \(condition.met ? "fine" : "no  ")  \(name)\(condition.source)")
        }
        if !silent.isEmpty {
            let names = silent.joined(separator: ", ")
            lines.append("The screen counts as locked, because \(names) does not answer. Links open when it answers.")
        } else if locked {
            lines.append("The screen is locked. Links open when it is unlocked.")
        }
        lines.append("In the inbox: \(waiting). See: nfc inbox list")
        if let inboxProblem {
            lines.append("nfcd can't save what it reads: \(inboxProblem) nfcd tries again by itself.")
        }
        return lines
    }
}

struct UserEnvironment {
    let folders = UserFolders(environment: ProcessInfo.processInfo.environment)
    let deliverer = LinkDeliverer(environment: ProcessInfo.processInfo.environment)

    static var now: Int64 { Int64(Date().timeIntervalSince1970) }

    func apps() -> InstalledApps { InstalledApps(folders) }

    func cache() throws(StorageError) -> LinkCache<PrivateFolder> { try LinkCache(of: folders) }

    func inbox() throws(StorageError) -> Inbox<PrivateFolder> { try Inbox(of: folders) }

    /// Returns the router that decides which app opens a link.
    func router(allowsCustomSchemes: Bool = false) throws(StorageError) -> LinkRouter {
        try deliverer.router(allowsCustomSchemes: allowsCustomSchemes)
    }
}
