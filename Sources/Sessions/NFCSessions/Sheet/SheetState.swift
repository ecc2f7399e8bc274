// SPDX-License-Identifier: Apache-2.0

/// The state of the scanning sheet.
public enum SheetState: String, Sendable, Hashable {
    /// The sheet waits for a tag.
    case ready
    /// A tag was found, and the app is working with it.
    case scanning
    /// The work succeeded. The sheet shows a check mark and leaves.
    case success
    /// The work failed. The sheet shows the app's message and leaves.
    case failure
    /// The sheet is not visible any more.
    case dismissed
}
