// SPDX-License-Identifier: Apache-2.0

/// What is known of the reader of the service.
public enum ReaderState: Sendable, Hashable {
    /// It is not asked now, or did not answer yet. The name is that of the reader that answered last.
    case unasked(name: String?)
    /// It answers.
    case ready(name: String)
    /// It does not; the reason is a sentence for people.
    case missing(reason: String)

    /// The state, as words for people.
    ///
    /// - Parameter isLookedFor: whether nothing else keeps tags from being read.
    func text(isLookedFor: Bool) -> String {
        switch self {
        case .ready(let name): name
        case .missing(let reason): reason
        case .unasked(let name?): isLookedFor ? "\(name): it did not answer yet." : "\(name), when it was last asked."
        case .unasked(nil): isLookedFor ? "The reader did not answer yet." : "The reader was not asked yet."
        }
    }
}
