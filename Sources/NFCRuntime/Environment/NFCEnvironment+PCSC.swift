// SPDX-License-Identifier: Apache-2.0
import PCSCDriver
import TagLink

extension NFCEnvironment {
    /// A PC/SC reader, or the reason why there is none.
    ///
    /// - Parameter name: a part of its name; nil for the first.
    static func pcscReader(_ name: String?) -> Reader {
        do throws(LinkError) {
            return .discovering(try PCSCReader.find(name.map(ReaderChoice.named) ?? .first))
        } catch {
            return .none(reason: TerminalText.escaped(error.reason))
        }
    }

    /// The reader of a configuration that names none: the first contactless one, else the virtual field. Images of tags
    /// are for the virtual field.
    static func defaultReader(_ configuration: ReaderConfiguration) -> String {
        configuration.tags == nil && PCSCReader.isContactlessReaderThere ? "pcsc" : "virtual"
    }
}
