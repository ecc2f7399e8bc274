// SPDX-License-Identifier: Apache-2.0
import NDEF

/// The texts for waiting links.
extension NotificationContent {
    /// The most hosts in a summary.
    static let maximumTargets = 3
    /// The longest name in a summary, in characters. Of a longer name only the end is shown.
    static let maximumNameLength = 40

    /// Creates the text for a link that the user wants to open while the screen is locked.
    ///
    /// - Parameters:
    ///   - uri: the link.
    ///   - router: decides where the link goes.
    /// - Returns: nil when the link goes nowhere.
    public init?(unlockingFor uri: TagURI, router: LinkRouter) {
        guard let content = NotificationContent(uri, router: router), content.actionTitle != nil else { return nil }
        self = content
        switch router.route(uri) {
        case .app, .browser: body = "Unlock to open “\(host ?? uri.scheme)”"
        case .system, .customScheme, .refused: body = "Unlock to \(body.prefix(1).lowercased())\(body.dropFirst())"
        }
        actionTitle = "Unlock"
    }

    /// Creates the text for several waiting links.
    ///
    /// - Parameters:
    ///   - count: the number of links.
    ///   - targets: the targets of the links, as far as known, the oldest first.
    init(waiting count: Int, targets: [String]) {
        var names: [String] = []
        for target in targets.reversed() where !names.contains(target) { names.append(target) }
        let shown = names.prefix(Self.maximumTargets).map { "“\($0)”" }.joined(separator: ", ")
        let isAll = names.count <= Self.maximumTargets
        self.init(
            title: count == 1 ? "1 link is waiting" : "\(count) links are waiting",
            body: isAll ? shown : shown + " and others",
            actionTitle: "Show",
            host: nil
        )
    }

    /// Returns the target of a message's link as a short text: a host, a number or an address.
    static func target(of message: NDEFMessage) -> String? {
        guard case .uri(let uri) = LinkChoice(message) else { return nil }
        guard let host = uri.host else { return target(uri, limit: maximumNameLength) }
        return DisplayText.plain(host, limit: maximumNameLength, keeping: .tail)
    }
}
