// SPDX-License-Identifier: Apache-2.0

/// The state of the service's reader.
public enum ReaderState: Sendable, Hashable {
    /// The reader is not used now, or has not answered yet. The name is that of the last reader that answered.
    case unasked(name: String?)
    /// The reader answers.
    case ready(name: String)
    /// The reader does not answer. The reason is a sentence.
    case missing(reason: String)

    /// Returns the state as text.
    ///
    /// - Parameter isLookedFor: whether no other condition prevents reading.
    func text(isLookedFor: Bool) -> String {
        switch self {
        case .ready(let name): name
        case .missing(let reason): reason
        case .unasked(let name?): isLookedFor ? "\(name): it did not answer yet." : "\(name), when it was last asked."
        case .unasked(nil): isLookedFor ? "The reader did not answer yet." : "The reader was not asked yet."
        }
    }
}
