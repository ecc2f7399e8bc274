// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A presenter of the scanning sheet, such as a terminal, a log, a desktop, a browser or a test.
public protocol ScanSheet: AnyObject, Sendable {
    /// Draws the sheet again, or removes it when the state is ``SheetState/dismissed``.
    ///
    /// Calls come one at a time and in order, on any thread.
    ///
    /// - Parameters:
    ///   - content: what to show.
    ///   - cancel: the action of the sheet's Cancel button. It may be called from any thread and at any time. It does
    ///     nothing when the session has ended.
    func present(_ content: SheetContent, cancel: @escaping @Sendable () -> Void)
}
