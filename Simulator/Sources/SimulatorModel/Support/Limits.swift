// SPDX-License-Identifier: Apache-2.0

/// The simulator's limits. An error that reports an exceeded limit names it.
public enum Limits {
    /// Tags in the drawer.
    public static let tags = 500
    /// Tags near the phone at the same time.
    public static let near = 8
    /// Characters of a tag's name.
    public static let name = 80
    /// Bytes of an NDEF message.
    public static let message = 1 << 16
    /// Deleted tags that can be restored.
    public static let undo = 50
    /// Rows of the trace.
    public static let trace = 200_000
    /// Rows of the trace in a saved file.
    public static let savedRows = 5000
    /// Rows of the trace in one answer.
    public static let rows = 1000
    /// Lines of an app's output that are kept, and characters per line.
    public static let output = 200
    public static let outputLine = 1000
    /// Apps on the phone.
    public static let apps = 50
    /// Programs connected at the same time.
    public static let clients = 32
    /// Sessions that are kept.
    public static let sessions = 200
    /// Actions and calls that are kept for "Copy as test".
    public static let journal = 2000
    /// Bytes of a line on the local socket, of an action over HTTP, and of a page's message or file.
    public static let line = 1 << 18
    public static let action = 1 << 19
    public static let pageMessage = 8 << 20
    /// Values in a JSON text. A saved file of the whole state has a few thousand.
    public static let values = 50_000
    /// Bytes of an app's screen.
    public static let screen = 1 << 16
}
