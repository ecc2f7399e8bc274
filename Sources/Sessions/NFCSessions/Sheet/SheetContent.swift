// SPDX-License-Identifier: Apache-2.0

/// Everything that a presenter needs to draw the scanning sheet.
public struct SheetContent: Sendable, Hashable {
    /// The state of the sheet.
    public var state: SheetState
    /// The title: "Ready to Scan" while the sheet waits.
    public var title: String
    /// The app's text: its alert message, or its error message in ``SheetState/failure``.
    public var message: String
    /// Whether the error symbol is drawn. A session that reads messages by itself shows its error message without one.
    public var showsErrorSymbol: Bool

    /// Creates a content.
    public init(state: SheetState, title: String, message: String, showsErrorSymbol: Bool) {
        self.state = state
        self.title = title
        self.message = message
        self.showsErrorSymbol = showsErrorSymbol
    }

    /// Whether the user can cancel now.
    public var canCancel: Bool { state == .ready || state == .scanning }
}
