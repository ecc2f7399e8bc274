// SPDX-License-Identifier: Apache-2.0
import TagLink

extension PCSCReader {
    /// Whether the service has a reader that is contactless as far as can be told.
    ///
    /// Where there is no service, this costs one look at the file system: the library is not even opened.
    public static var isContactlessReaderThere: Bool {
        let layer = SystemSmartCards.shared
        guard layer.isServiceLikely, let states = try? states(layer) else { return false }
        return ReaderChoice.firstContactless.pick(from: states) != nil
    }

    /// Why a reader can't be had now, as a sentence that says what to do; nil when it is there.
    ///
    /// - Parameter choice: which reader.
    public static func whyMissing(_ choice: ReaderChoice) -> String? {
        do throws(SmartCardError) {
            let states = try states(SystemSmartCards.shared)
            return choice.pick(from: states) == nil ? missing(choice, among: states) : nil
        } catch {
            return error.reason
        }
    }

    /// The states of all readers, by a connection of its own.
    package static func states(_ layer: any SmartCardLayer) throws(SmartCardError) -> [SmartCardReaderState] {
        let service = ServiceConnection(layer: layer, callLimit: callLimit)
        return try service.readers()
    }

    /// Why none of the readers there are is the one that is meant.
    static func missing(_ choice: ReaderChoice, among states: [SmartCardReaderState]) -> String {
        guard !states.isEmpty else { return SmartCardError(.noReaders, "SCardListReaders").reason }
        let names = states.map { "\"\($0.reader)\"" }.joined(separator: ", ")
        return switch choice {
        case .named(let name): "There is no PC/SC reader named \"\(name)\". There are: \(names)."
        default: "None of the PC/SC readers is contactless as far as can be told. There are: \(names)."
        }
    }
}
