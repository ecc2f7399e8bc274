// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import LinkDelivery
import NFCReaders
import NFCSessions
import TagLink
import TextSafety

struct BackgroundDoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check everything that background reading needs, and explain how to fix problems.",
        discussion: """
            It checks the service, the reader, the bus, the notifications and their
            features, whether the screen lock is reported, the app of each scheme, the
            installed apps, and the age of each association file. It changes nothing.

            A result is "fine", "no", or "part": it works in part, or something
            optional is missing.

            Examples:
              nfc background doctor
              nfc background doctor --json

            Exit status: 0 when nothing fails, else 1.
            """
    )

    @Flag(help: "Print one JSON object per check.")
    var json = false

    func run() async throws {
        let status = Result { try RunningService.status()?.status }
        var findings = [Self.service(status), await Self.reader(try? status.get())]
        findings += LinkDiagnostics(environment: ProcessInfo.processInfo.environment, now: UserEnvironment.now).findings
        for finding in findings { printResult(json: json, Self.object(finding), Self.lines(finding)) }
        guard findings.allSatisfy({ $0.state != .fails }) else { throw ExitCode(1) }
    }

    /// Checks whether the service works. The status is nil if the service is not running.
    static func service(_ status: Result<ServiceStatus?, any Error>) -> Finding {
        switch status {
        case .failure(let error):
            let failure = CommandFailure(reporting: error)
            let fix = failure?.name == "no-bus" ? "See the result of the bus check." : "systemctl --user restart nfcd"
            return Finding("service", .fails, "nfcd does not answer: \(failure?.message ?? "\(error)")", fix: fix)
        case .success(nil):
            let fix = "nfc background enable, or without systemd: nfc background run"
            return Finding("service", .fails, "nfcd is not running.", fix: fix)
        case .success(let status?):
            if let problem = status.inboxProblem {
                let fix = "Free some disk space, or make the folder writable. nfcd tries again by itself."
                return Finding("service", .fails, "nfcd runs, but can't save what it reads: \(problem)", fix: fix)
            }
            // The reader has its own check below.
            let obstacles = status.conditions.filter { !$0.met && $0.condition != "reader" }
            guard obstacles.isEmpty else {
                let reasons = obstacles.map { "\($0.condition): \($0.source)" }.joined(separator: " ")
                return Finding("service", .limited, "nfcd runs. Tags are not read now, because of \(reasons)")
            }
            return Finding("service", .works, "nfcd runs. In the inbox: \(status.waiting).")
        }
    }

    /// Checks the reader that the service uses, or would use if it were running.
    static func reader(_ status: ServiceStatus??) async -> Finding {
        let fix =
            "Plug it in; see: nfc readers. PC/SC readers need pcscd. To use a PN532: nfc background "
            + "enable --reader pn532:PATH"
        if let status = status ?? nil, let reader = status.reader {
            return Finding("reader", reader.met ? .works : .fails, reader.source, fix: reader.met ? nil : fix)
        }
        let environment = NFCEnvironment(Self.readerConfiguration(over: .ofProcess))
        if case .none(let reason) = environment.reader { return Finding("reader", .fails, reason, fix: fix) }
        guard let driver = environment.driver else {
            return Finding("reader", .fails, "No reader was found.", fix: fix)
        }
        do throws(LinkError) {
            try await driver.prepare()
            return Finding("reader", .works, "\(driver.name) answers.")
        } catch {
            return Finding("reader", .fails, error.reason, fix: fix)
        }
    }

    /// The configuration of the reader that the service would use, without recording.
    static func readerConfiguration(over own: ReaderConfiguration) -> ReaderConfiguration {
        var configuration = own
        configuration.reader = own.backgroundReader
        configuration.recording = nil
        configuration.patience = .seconds(5)
        return configuration
    }

    static func lines(_ finding: Finding) -> [String] {
        let state =
            switch finding.state {
            case .works: "fine"
            case .limited: "part"
            case .fails: "no  "
            }
        let name = [finding.check, finding.subject].compactMap { $0 }.joined(separator: " ")
        return ["\(state)  \(name): \(finding.text)"] + (finding.fix.map { ["      \($0)"] } ?? [])
    }

    static func object(_ finding: Finding) -> JSONObject {
        let fails = finding.state == .fails
        return [
            "ok": !fails, "error": fails ? "\(finding.check)-fails" : nil, "check": finding.check,
            "subject": finding.subject, "state": finding.state.rawValue, "message": finding.text, "fix": finding.fix,
        ]
    }
}
