// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import CoreNFC
import Foundation
import NDEF
import Testing
import UserActivityReceiving

private typealias UIApplication = Application
private typealias UIUserActivityRestoring = UserActivityRestoring

/// An app's delegate, written as on a phone.
@MainActor
private final class AppDelegate: ApplicationDelegate {
    var links: [URL] = []
    var messages: [NFCNDEFMessage] = []
    var announced: [String] = []
    var failures = 0
    let screen = Screen()

    func application(_ application: UIApplication, willContinueUserActivityWithType userActivityType: String) -> Bool {
        announced.append(userActivityType)
        return false
    }

    func application(
        _ application: UIApplication,
        continue userActivity: NSUserActivity,
        restorationHandler: @escaping ([any UIUserActivityRestoring]?) -> Void
    ) -> Bool {
        guard userActivity.activityType == NSUserActivityTypeBrowsingWeb, let url = userActivity.webpageURL else {
            return false
        }
        let message = userActivity.ndefMessagePayload
        guard message.records.count > 0, message.records[0].typeNameFormat != .empty else { return false }
        links.append(url)
        messages.append(message)
        restorationHandler([screen])
        return true
    }

    func application(
        _ application: UIApplication,
        didFailToContinueUserActivityWithType userActivityType: String,
        error: any Error
    ) {
        failures += 1
    }
}

@MainActor
private final class Screen: UserActivityRestoring {
    var shown: [URL?] = []

    func restoreUserActivityState(_ userActivity: NSUserActivity) { shown.append(userActivity.webpageURL) }
}

@MainActor
@Suite struct `An app that is given links` {
    private func payload(_ link: String) throws -> UserActivityPayload {
        let message = NDEFMessage([try .text("first", language: "en"), try .uri(link)])
        return try UserActivityPayload(
            activityType: UserActivityPayload.browsingWeb,
            webpageURL: try #require(TagURI(link)).text,
            message: try message.encoded()
        )
    }

    @Test func `The delegate gets the link with the whole message`() throws {
        let application = Application()
        let delegate = AppDelegate()
        application.delegate = delegate
        #expect(application.receive(try payload("https://example.org/a?b=ü")))
        #expect(delegate.links.map(\.absoluteString) == ["https://example.org/a?b=%C3%BC"])
        #expect(delegate.messages.first?.records.map(\.typeNameFormat) == [.nfcWellKnown, .nfcWellKnown])
        #expect(delegate.messages.first?.records[1].wellKnownTypeURIPayload()?.host == "example.org")
        #expect(delegate.announced == [NSUserActivityTypeBrowsingWeb])
        #expect(delegate.screen.shown.count == 1)
        #expect(NSUserActivityTypeBrowsingWeb == UserActivityPayload.browsingWeb)
    }

    @Test func `A delegate is told of an activity that can't be made, and has not handled it`() {
        let delegate = AppDelegate()
        #expect(!Application().hand(nil, ofType: NSUserActivityTypeBrowsingWeb, to: delegate))
        #expect(delegate.failures == 1 && delegate.links.isEmpty)
        #expect(delegate.announced == [NSUserActivityTypeBrowsingWeb])
    }

    @Test func `What comes before there is a delegate waits for it, in order and bounded`() throws {
        let application = Application()
        for number in 0..<20 { #expect(application.receive(try payload("https://example.org/\(number)"))) }
        let delegate = AppDelegate()
        application.delegate = delegate
        #expect(delegate.links.map(\.lastPathComponent) == (4..<20).map { "\($0)" })
        application.delegate = delegate
        #expect(delegate.links.count == 16)
    }

    @Test func `What has been sent as JSON is the same activity`() throws {
        let application = Application()
        let delegate = AppDelegate()
        application.delegate = delegate
        application.receive(try UserActivityPayload(json: payload("https://example.org/x").json))
        #expect(delegate.messages.first?.records.count == 2)
    }

    /// A delegate that has only what every delegate has to have.
    private final class PlainDelegate: ApplicationDelegate {
        var takes = false
        var links: [URL?] = []
        var restored: [any UIUserActivityRestoring]?

        func application(
            _ application: UIApplication,
            continue userActivity: NSUserActivity,
            restorationHandler: @escaping ([any UIUserActivityRestoring]?) -> Void
        ) -> Bool {
            links.append(userActivity.webpageURL)
            restorationHandler(restored)
            return takes
        }
    }

    @Test func `Whether a link was taken is what the delegate returns, and each object is restored`() throws {
        let application = Application()
        let delegate = PlainDelegate()
        application.delegate = delegate
        #expect(!application.receive(try payload("https://example.org/a")))
        delegate.takes = true
        let screens = [Screen(), Screen()]
        delegate.restored = screens
        #expect(application.receive(try payload("https://example.org/b")))
        #expect(delegate.links.map { $0?.lastPathComponent } == ["a", "b"])
        #expect(screens.map { $0.shown.map { $0?.lastPathComponent } } == [["b"], ["b"]])
    }

    @Test func `A delegate says nothing of an activity, and takes a failure, unless it has methods for that`() {
        let delegate = PlainDelegate()
        let type = UserActivityPayload.browsingWeb
        #expect(!delegate.application(Application(), willContinueUserActivityWithType: type))
        delegate.application(
            Application(),
            didFailToContinueUserActivityWithType: type,
            error: CocoaError(.userActivityHandoffFailed)
        )
        #expect(delegate.links.isEmpty)
    }

    @Test func `A link that comes when the delegate is gone waits for the next one, and comes once`() throws {
        let application = Application()
        var first: PlainDelegate? = PlainDelegate()
        application.delegate = first
        first = nil
        #expect(application.delegate == nil)
        #expect(application.receive(try payload("https://example.org/a")))
        application.delegate = nil
        let second = PlainDelegate()
        application.delegate = second
        #expect(second.links.map { $0?.lastPathComponent } == ["a"])
        let third = PlainDelegate()
        application.delegate = third
        #expect(third.links.isEmpty)
    }

    /// A delegate that leaves when it has its first link.
    private final class LeavingDelegate: ApplicationDelegate {
        var calls: [String] = []

        func application(_ application: UIApplication, willContinueUserActivityWithType _: String) -> Bool {
            calls.append("will")
            return true
        }

        func application(
            _ application: UIApplication,
            continue userActivity: NSUserActivity,
            restorationHandler: @escaping ([any UIUserActivityRestoring]?) -> Void
        ) -> Bool {
            calls.append(userActivity.webpageURL?.lastPathComponent ?? "none")
            application.delegate = nil
            return true
        }
    }

    @Test func `Links that waited wait on when the delegate leaves at the first of them, and none is lost`() throws {
        let application = Application()
        for number in 1...3 { #expect(application.receive(try payload("https://example.org/\(number)"))) }
        let leaving = LeavingDelegate()
        application.delegate = leaving
        // Each link is announced before it comes.
        #expect(leaving.calls == ["will", "1"])
        #expect(application.receive(try payload("https://example.org/4")))
        let next = PlainDelegate()
        application.delegate = next
        #expect(next.links.map { $0?.lastPathComponent } == ["2", "3", "4"])
    }
}
