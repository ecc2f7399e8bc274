// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import Glibc
import LinkDelivery
import NFCReaders
import NFCSessions
import TagLink

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract:
            "Check the readers, the permissions and the programs of this machine, and explain how to fix problems.",
        discussion: """
            It lists what this machine has, and what it could have: PC/SC readers, a
            PN532 on a serial line, I2C or SPI, the service for background reading, and
            the programs that nfc starts. It changes nothing, and sends nothing on a line
            or bus that you did not name. For everything that background reading needs,
            see: nfc background doctor

            A result is "fine", "no", or "part": something optional is missing. No
            reader is needed for virtual tags.

            Examples:
              nfc doctor
              nfc doctor --json

            Exit status: 0 when nothing fails, else 1.
            """
    )

    @Flag(help: "Print one JSON object per check.")
    var json = false

    func run() async throws {
        let findings = await Self.readers(.ofProcess) + Self.lines() + [Self.service()] + Self.programs()
        for finding in findings {
            printResult(json: json, BackgroundDoctorCommand.object(finding), BackgroundDoctorCommand.lines(finding))
        }
        guard findings.allSatisfy({ $0.state != .fails }) else { throw ExitCode(1) }
    }

    /// Checks the reader that the configuration names, or else looks for readers.
    private static func readers(_ configuration: ReaderConfiguration) async -> [Finding] {
        guard configuration.reader == nil, configuration.tags == nil else { return [await named(configuration)] }
        let found = await MachineReaders.list()
        guard found.isEmpty else {
            return found.map {
                Finding("reader", of: $0.reader, .works, "It is contactless, and needs no settings.")
            }
        }
        let fix = "Virtual tags need no reader. Try: nfc scan --reader virtual"
        return MachineReaders.absences().map { Finding("reader", of: "pcsc", .limited, $0, fix: fix) }
    }

    private static func named(_ configuration: ReaderConfiguration) async -> Finding {
        var configuration = configuration
        configuration.recording = nil
        configuration.patience = .seconds(5)
        let environment = NFCEnvironment(configuration)
        let fix = "NFC_READER and NFC_TAGS choose the reader. To see the readers: nfc readers"
        if case .none(let reason) = environment.reader { return Finding("reader", .fails, reason, fix: fix) }
        guard let driver = environment.driver else { return Finding("reader", .fails, "There is no reader.", fix: fix) }
        do throws(LinkError) {
            try await driver.prepare()
            return Finding("reader", of: driver.name, .works, "It answers.")
        } catch {
            return Finding("reader", of: driver.name, .fails, error.reason, fix: fix)
        }
    }

    /// Checks whether this user may open the serial lines and buses, on one of which a PN532 can be.
    private static func lines() -> [Finding] {
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: "/dev")) ?? []).sorted()
        let kinds = [
            ("serial", "ttyUSB", "dialout"), ("serial", "ttyACM", "dialout"), ("i2c", "i2c-", "i2c"),
            ("spi", "spidev", "spi"),
        ]
        let found = kinds.flatMap { kind, prefix, group in
            names.filter { $0.hasPrefix(prefix) }.map { (kind, "/dev/\($0)", group) }
        }
        guard !found.isEmpty else {
            let text = "No USB serial adapter, I2C or SPI bus was found, so a PN532 can't be used."
            let fix = "For a board on a Raspberry Pi, switch on I2C or SPI: sudo raspi-config"
            return [Finding("serial", .limited, text, fix: fix)]
        }
        return found.map { kind, path, group in
            if unsafe access(path, R_OK | W_OK) == 0 {
                let text = "It can be opened. If a PN532 is on it: --reader pn532:\(path)"
                return Finding(kind, of: path, .works, text)
            }
            let fix = "sudo usermod -aG \(group) $USER, then log in again"
            // Most buses are for other devices.
            let state: Finding.State = kind == "serial" ? .fails : .limited
            return Finding(kind, of: path, state, "This user may not open it.", fix: fix)
        }
    }

    /// Checks the service. It is optional.
    private static func service() -> Finding {
        var finding = BackgroundDoctorCommand.service(Result { try RunningService.status()?.status })
        if finding.state == .fails {
            finding.state = .limited
            finding.fix = "It is only needed to read tags while no app does. See: nfc background doctor"
        }
        return finding
    }

    /// Looks for the programs that some commands start.
    private static func programs() -> [Finding] {
        [SimulatorCommand.program, LintCommand.program, FleetCommand.program].map { program in
            do {
                return Finding("program", of: program.name, .works, try program.path())
            } catch {
                let text = "It was not found next to nfc or in PATH."
                return Finding("program", of: program.name, .limited, text, fix: program.installation)
            }
        }
    }
}
