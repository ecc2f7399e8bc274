// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import LinkDelivery
import NFCRuntime
import TagLink

/// `nfc background doctor`.
struct BackgroundDoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Look at all that reading in the background needs, and say how to put right what is missing.",
        discussion: """
            It looks at the service, the reader, the bus, notifications and what they can
            do, what reports that the screen is locked, the app of each scheme, the
            installed apps, and the age of each association file. It changes nothing.

            Each is "fine", "part" where it works in part or something optional is
            missing, or "no".

            Examples:
              nfc background doctor
              nfc background doctor --json

            Exit status: 0 when nothing fails, else 1.
            """
    )

    @Flag(help: "Print one JSON object for each thing that was looked at.")
    var json = false

    func run() async throws {
        let status = Result { () throws(CommandFailure) in try RunningService.status()?.status }
        var findings = [Self.service(status), await Self.reader(try? status.get())]
        findings += Examination(environment: ProcessInfo.processInfo.environment, now: UserEnvironment.now).findings
        for finding in findings {
            if json { Self.printJSON(finding) } else { Self.show(finding) }
        }
        guard findings.allSatisfy({ $0.state != .fails }) else { throw ExitCode(1) }
    }

    private static func service(_ status: Result<ServiceStatus?, CommandFailure>) -> Finding {
        switch status {
        case .failure(let failure):
            return Finding(
                "service",
                .fails,
                "nfcd can't be asked: \(failure.message)",
                fix: failure.name == "no-bus" ? "See what is said of the bus." : "systemctl --user restart nfcd"
            )
        case .success(nil):
            return Finding(
                "service",
                .fails,
                "nfcd does not run.",
                fix: "nfc background enable, or where there is no systemd: nfc background run"
            )
        case .success(let status?):
            if let problem = status.inboxProblem {
                return Finding(
                    "service",
                    .fails,
                    "nfcd runs, and keeps nothing that it reads: \(problem)",
                    fix: "Make room on the disk, or let the folder be written. nfcd tries again by itself."
                )
            }
            // Of the reader more is said below.
            let obstacles = status.conditions.filter { !$0.met && $0.condition != "reader" }
            guard obstacles.isEmpty else {
                let reasons = obstacles.map { "\($0.condition): \($0.source)" }.joined(separator: " ")
                return Finding("service", .limited, "nfcd runs. Tags are not read now, because of \(reasons)")
            }
            return Finding("service", .works, "nfcd runs. In the inbox: \(status.waiting).")
        }
    }

    /// The reader as the service has it; where none runs, as it would have it.
    private static func reader(_ status: ServiceStatus??) async -> Finding {
        let fix =
            "Plug it in, see: nfc readers. PC/SC readers need pcscd; of a PN532 the service is told by: nfc background "
            + "enable --reader pn532:PATH"
        if let status = status ?? nil, let reader = status.reader {
            return Finding("reader", reader.met ? .works : .fails, reader.source, fix: reader.met ? nil : fix)
        }
        var configuration = ReaderConfiguration.ofProcess
        if configuration.reader == nil, configuration.tags == nil { configuration.reader = "pcsc" }
        configuration.recording = nil
        configuration.patience = .seconds(5)
        let environment = NFCEnvironment(configuration)
        if case .none(let reason) = environment.reader { return Finding("reader", .fails, reason, fix: fix) }
        guard let driver = environment.driver else { return Finding("reader", .fails, "There is no reader.", fix: fix) }
        do throws(LinkError) {
            try await driver.prepare()
            return Finding("reader", .works, "\(driver.name) answers.")
        } catch {
            return Finding("reader", .fails, error.reason, fix: fix)
        }
    }

    private static func show(_ finding: Finding) {
        let state =
            switch finding.state {
            case .works: "fine"
            case .limited: "part"
            case .fails: "no  "
            }
        let name = [finding.check, finding.subject].compactMap { $0 }.joined(separator: " ")
        printLine("\(state)  \(name): \(finding.text)")
        if let fix = finding.fix { printLine("      \(fix)") }
    }

    private static func printJSON(_ finding: Finding) {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("ok", finding.state != .fails)
        writer.member("error", finding.state == .fails ? "\(finding.check)-fails" : nil)
        writer.member("check", finding.check)
        writer.member("subject", finding.subject)
        writer.member("state", finding.state.rawValue)
        writer.member("message", finding.text)
        writer.member("fix", finding.fix)
        writer.endObject()
        writer.printLine()
    }
}
