// SPDX-License-Identifier: Apache-2.0
import LinuxSupport
import PN532Driver
import TagLink
import TextSafety

extension ReaderKind {
    /// A PN532 on a serial line, I2C or SPI, which can also act as a card.
    ///
    /// The line is opened when a session begins, so the adapter may be plugged in later.
    static let pn532 = ReaderKind(
        usage: "pn532:PATH",
        title: "PN532",
        use: .service,
        make: { name, _, _ in
            do throws(LinkError) {
                let connection = name.rest ?? ""
                let reader = try PN532Reader(connection)
                let port = PN532CardPort(try PN532Card(connection)) { error in
                    OutputDescriptor.standardError.write("\(VisibleText.escaped(error.reason))\n")
                }
                return ResolvedReader(.discovering(reader), cardPort: port)
            } catch {
                return ResolvedReader(none: error.reason)
            }
        },
        problem: { name in
            guard let connection = name.argument else { return .unknown }
            do throws(LinkError) {
                _ = try PN532Reader(connection)
                return nil
            } catch {
                return .other(VisibleText.escaped(error.reason))
            }
        },
        serviceProblem: { name in
            name.rest?.hasPrefix("/") == true
                ? nil : "A PN532 needs the full path of its line, for example pn532:/dev/ttyUSB0."
        },
        // `rest` keeps all further colons, which paths such as those in /dev/serial/by-path contain.
        devicePath: { name in name.rest.flatMap { try? PN532Reader($0) }?.path },
        owns: { $0 is PN532Reader },
        describe: { report in
            report.capabilities = PN532Reader.capabilities
            report.calls = PN532Reader.calls
        }
    )
}
