// SPDX-License-Identifier: Apache-2.0
import TextSafety

extension ReaderConfiguration {
    /// Why the background service can't use this reader, as a sentence for people; nil when it can. A reader that is
    /// not plugged in may be connected later.
    package var serviceProblem: String? {
        guard let reader else { return nil }
        let name = ReaderName(reader)
        let use = "Use \(ReaderKind.forms(for: .service))."
        guard let kind = ReaderKind.named(name) else { return backgroundProblem(use: use) }
        guard kind.use == .service else {
            return
                "The reader \"\(kind.scheme)\" finds no tags for a service. \(use) For trials: nfc background run --tags FOLDER"
        }
        return kind.serviceProblem(name) ?? backgroundProblem(use: use)
    }

    /// Why this reader can never exist for background reading, including trials, as a sentence for people; nil when it
    /// exists, may be connected later, or none is wanted.
    public var backgroundProblem: String? {
        backgroundProblem(use: "Use \(ReaderKind.forms(for: .sessions)).")
    }

    private func backgroundProblem(use: String) -> String? {
        guard let reader else { return nil }
        let name = ReaderName(reader)
        let kind = ReaderKind.named(name)
        switch kind == nil ? .unknown : kind?.problem(name) {
        case .unknown: return "There is no reader \"\(VisibleText.escaped(reader))\". \(use)"
        case .unnamed: return "The reader \"\(VisibleText.escaped(reader))\" has no name. \(use)"
        case .other(let reason): return reason
        case nil: return nil
        }
    }

    /// The path of the device that the named reader needs, such as the serial line of a PN532; nil for other readers.
    package var serialLine: String? {
        guard let name = reader.map(ReaderName.init) else { return nil }
        return ReaderKind.named(name)?.devicePath(name)
    }
}
