// SPDX-License-Identifier: Apache-2.0
public import NFCSessions
import TagLink

/// A scanning sheet that records what it showed, and that a test can cancel.
public final class RecordingSheet: ScanSheet {
    private struct State {
        var history: [SheetContent] = []
        var cancel: (@Sendable () -> Void)?
    }

    private let state = Locked(State())

    private let onPresent: (@Sendable (SheetContent) -> Void)?

    /// Creates a sheet.
    public convenience init() { self.init(onPresent: nil) }

    init(onPresent: (@Sendable (SheetContent) -> Void)?) { self.onPresent = onPresent }

    public func present(_ content: SheetContent, cancel: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.history.append(content)
            state.cancel = content.canCancel ? cancel : nil
        }
        onPresent?(content)
    }

    /// Everything that was shown, in order.
    public var history: [SheetContent] { state.withLock { $0.history } }

    /// What is shown now; nil before the first session.
    public var content: SheetContent? { state.withLock { $0.history.last } }

    /// Presses the Cancel button.
    ///
    /// - Returns: false when there is no button to press.
    @discardableResult
    public func cancel() -> Bool {
        guard let cancel = state.withLock({ $0.cancel }) else { return false }
        cancel()
        return true
    }
}
