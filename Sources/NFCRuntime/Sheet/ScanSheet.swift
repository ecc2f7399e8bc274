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
