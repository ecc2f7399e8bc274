// SPDX-License-Identifier: Apache-2.0

/// A sheet that is not visible.
public final class HiddenSheet: ScanSheet {
    /// Creates a sheet.
    public init() {}

    public func present(_ content: SheetContent, cancel: @escaping @Sendable () -> Void) {}
}
