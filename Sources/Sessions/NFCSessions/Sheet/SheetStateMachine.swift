// SPDX-License-Identifier: Apache-2.0

/// The life of the scanning sheet: ready, scanning, success or failure, dismissed.
///
/// A value: send it an event, and draw the content that it returns.
package struct SheetStateMachine: Sendable {
    package enum Event: Sendable {
        /// The session became active.
        case present(message: String)
        /// The app set another alert message.
        case messageChanged(String)
        /// A tag was found.
        case tagFound
        /// Polling continues.
        case pollingRestarted
        /// The session ended successfully.
        case succeeded
        /// The session ended with the app's error message.
        case failed(message: String, showsErrorSymbol: Bool)
        /// The sheet leaves without a result: the user cancelled, or a time limit was reached.
        case leave
        /// The result has been shown long enough.
        case resultShown
    }

    /// The last drawn content; nil before the sheet was presented.
    package private(set) var content: SheetContent?

    package init() {}

    /// Whether the sheet is on the screen.
    package var isVisible: Bool { content.map { $0.state != .dismissed } ?? false }

    /// Handles an event.
    ///
    /// - Returns: the content to draw; nil when nothing changes.
    package mutating func handle(_ event: Event) -> SheetContent? {
        guard let next = next(after: event), next != content else { return nil }
        content = next
        return next
    }

    private func next(after event: Event) -> SheetContent? {
        guard let content else {
            guard case .present(let message) = event else { return nil }
            return SheetContent(state: .ready, title: Self.readyTitle, message: message, showsErrorSymbol: false)
        }
        var next = content
        switch (content.state, event) {
        case (.ready, .messageChanged(let message)), (.scanning, .messageChanged(let message)):
            next.message = message
        case (.ready, .tagFound):
            next.state = .scanning
        case (.scanning, .pollingRestarted):
            next.state = .ready
        case (.ready, .succeeded), (.scanning, .succeeded):
            next.state = .success
            next.title = ""
        case (.ready, .failed(let message, let symbol)), (.scanning, .failed(let message, let symbol)):
            next.state = .failure
            next.title = ""
            next.message = message
            next.showsErrorSymbol = symbol
        case (.ready, .leave), (.scanning, .leave), (.success, .resultShown), (.failure, .resultShown):
            next.state = .dismissed
        default:
            return nil
        }
        return next
    }

    private static let readyTitle = "Ready to Scan"
}
