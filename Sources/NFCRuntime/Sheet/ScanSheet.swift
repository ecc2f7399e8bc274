// SPDX-License-Identifier: Apache-2.0

/// Something that shows the scanning sheet: a terminal, a log, a desktop, a browser, a test.
public protocol ScanSheet: AnyObject, Sendable {
    /// Draws the sheet anew, or takes it away when the state is ``SheetState/dismissed``.
    ///
    /// Calls come one at a time and in order, on any thread.
    ///
    /// - Parameters:
    ///   - content: what to show.
    ///   - cancel: what the sheet's Cancel button does. May be called from any thread and at any time; it does nothing
    ///     once the session has ended.
    func present(_ content: SheetContent, cancel: @escaping @Sendable () -> Void)
}

/// A sheet that nobody sees.
public final class HiddenSheet: ScanSheet {
    /// Creates a sheet.
    public init() {}

    public func present(_ content: SheetContent, cancel: @escaping @Sendable () -> Void) {}
}

/// What the scanning sheet shows.
public enum SheetState: String, Sendable, Hashable {
    /// The sheet waits for a tag.
    case ready
    /// A tag was found, and the app works with it.
    case scanning
    /// The work is done; the sheet shows a check mark and leaves.
    case success
    /// The work failed; the sheet shows the app's message and leaves.
    case failure
    /// The sheet is gone.
    case dismissed
}

/// Everything that a presenter needs to draw the scanning sheet.
public struct SheetContent: Sendable, Hashable {
    /// What the sheet shows.
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

    /// Whether the person can cancel now.
    public var canCancel: Bool { state == .ready || state == .scanning }
}
