// SPDX-License-Identifier: Apache-2.0

/// What an app needs the reader for.
public enum ReaderPurpose: Sendable, Hashable {
    /// A reader session.
    case session
    /// To act as a card.
    case card
}
