// SPDX-License-Identifier: Apache-2.0
import PN532Driver
import TagLink
import VisibleText

extension ReaderConfiguration {
    /// Why the background service can't use this reader, as a sentence for people; nil when it can. A reader that is
    /// not plugged in may be connected later.
    public var serviceProblem: String? {
        guard let reader else { return nil }
        switch reader.split(separator: ":", maxSplits: 1).first {
        case "virtual", "replay", "none":
            let name = VisibleText.escaped(String(reader.prefix { $0 != ":" }))
            return
                "The reader \"\(name)\" finds no tags for a service. \(Self.lasting) For trials: nfc background run --tags FOLDER"
        case "pn532" where !reader.hasPrefix("pn532:/"):
            return "A PN532 needs the whole path of its serial line. Use pn532:/dev/ttyUSB0, for instance."
        default: return backgroundProblem(use: Self.lasting)
        }
    }

    /// Why this reader can never exist for background reading, including trials, as a sentence for people; nil when it
    /// exists, may be connected later, or none is wanted.
    public var backgroundProblem: String? {
        backgroundProblem(use: "Use virtual, pcsc, pcsc:NAME, pn532:PATH or replay:FILE.")
    }

    private static let lasting = "Use pcsc, pcsc:NAME or pn532:PATH."

    private func backgroundProblem(use: String) -> String? {
        guard let reader else { return nil }
        let parts = reader.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        switch (parts[0], parts.dropFirst().first) {
        case ("pcsc", nil), ("virtual", nil), ("none", nil): return nil
        case ("pcsc", let name?): return name.isEmpty ? "The reader \"pcsc:\" has no name. \(use)" : nil
        case ("replay", let name?) where !name.isEmpty: return nil
        case ("pn532", let path?) where !path.isEmpty:
            do throws(LinkError) {
                _ = try PN532Reader(path)
                return nil
            } catch {
                return VisibleText.escaped(error.reason)
            }
        default: return "There is no reader \"\(VisibleText.escaped(reader))\". \(use)"
        }
    }

    /// The serial line of the PN532; nil for other readers.
    public var serialLine: String? {
        guard let reader, reader.hasPrefix("pn532:") else { return nil }
        // A path may contain colons, such as those in /dev/serial/by-path.
        return (try? PN532Reader(String(reader.dropFirst(6))))?.path
    }
}
