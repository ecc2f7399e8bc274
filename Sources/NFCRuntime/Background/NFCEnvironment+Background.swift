// SPDX-License-Identifier: Apache-2.0
import PCSCDriver
import TagLink
import VirtualTags

extension NFCEnvironment {
    /// The environment of the service that reads tags in the background: it asks nobody for the reader, shows no sheet, and
    /// takes a reader that comes later.
    ///
    /// - Parameter configuration: which reader; the first of PC/SC when it names none. The virtual one has tags only where
    ///   images are named.
    public static func background(_ configuration: ReaderConfiguration) -> NFCEnvironment {
        let name = configuration.reader ?? (configuration.tags == nil ? "pcsc" : "virtual")
        let parts = name.split(separator: ":", maxSplits: 1)
        switch parts.first {
        case "pcsc":
            let choice = parts.dropFirst().first.map { ReaderChoice.named(String($0)) } ?? .firstContactless
            return NFCEnvironment(reader: .discovering(PCSCReader(choice)))
        case "virtual" where configuration.tags == nil:
            return NFCEnvironment(reader: .field(VirtualField()))
        default:
            var configuration = configuration
            configuration.reader = name
            return NFCEnvironment(reader: NFCEnvironment(configuration).reader)
        }
    }
}
