// SPDX-License-Identifier: Apache-2.0
import PCSCDriver

extension NFCEnvironment {
    /// Makes an environment with a PC/SC reader, or the reason why there is none.
    ///
    /// - Parameters:
    ///   - configuration: the reader is `pcsc`, or `pcsc:` and a part of its name.
    ///   - sheet: where the scanning sheet is shown.
    convenience init(pcsc configuration: ReaderConfiguration, sheet: any ScanSheet) {
        let name = configuration.reader?.split(separator: ":", maxSplits: 1).dropFirst().first.map(String.init)
        let choice = name.map(ReaderChoice.named) ?? .first
        if let reason = PCSCReader.whyMissing(choice) {
            self.init(reader: .none(reason: TerminalText.escaped(reason)), sheet: sheet)
        } else {
            self.init(reader: .discovering(PCSCReader(choice)), sheet: sheet)
        }
    }
}
