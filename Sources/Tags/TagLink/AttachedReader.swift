// SPDX-License-Identifier: Apache-2.0

/// The reader that a program uses, or the reason why it has none.
public enum AttachedReader: Sendable {
    /// A reader whose host sends every frame.
    case field(any FieldDriver)
    /// A reader that finds and activates tags itself.
    case discovering(any DiscoveringDriver)
    /// There is no reader. The reason is a sentence that explains what to do.
    case none(reason: String)

    /// The reader's driver; nil when there is no reader.
    public var driver: (any ReaderDriver)? {
        switch self {
        case .field(let driver): driver
        case .discovering(let driver): driver
        case .none: nil
        }
    }
}
