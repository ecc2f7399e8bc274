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
@Suite struct ReceivingTests {
    private func payload(_ link: String) throws -> UserActivityPayload {
        let message = NDEFMessage([try .text("first", language: "en"), try .uri(link)])
        return try UserActivityPayload(
            activityType: UserActivityPayload.browsingWeb,
            webpageURL: try #require(TagURI(link)).text,
            message: try message.encoded()
        )
    }

    @Test func `Link: the delegate gets it with the whole message, and restores its screen`() throws {
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

    @Test func `Activity that can't be made: the delegate hears of the failure`() {
        let delegate = AppDelegate()
        #expect(!Application().hand(nil, ofType: NSUserActivityTypeBrowsingWeb, to: delegate))
        #expect(delegate.failures == 1 && delegate.links.isEmpty)
        #expect(delegate.announced == [NSUserActivityTypeBrowsingWeb])
    }

    @Test func `Links before the delegate is set: the last 16 wait for it, in order`() throws {
        let application = Application()
        for number in 0..<20 { #expect(application.receive(try payload("https://example.org/\(number)"))) }
        let delegate = AppDelegate()
        application.delegate = delegate
        #expect(delegate.links.map(\.lastPathComponent) == (4..<20).map { "\($0)" })
        application.delegate = delegate
        #expect(delegate.links.count == 16)
    }

    /// A delegate that has only what every delegate has to have.
    private final class PlainDelegate: ApplicationDelegate {
        var takes = false
        var links: [URL?] = []
        var restored: [any UIUserActivityRestoring]?
        /// Whether it leaves the app when it gets a link.
        var leaves = false

        func application(
            _ application: UIApplication,
            continue userActivity: NSUserActivity,
            restorationHandler: @escaping ([any UIUserActivityRestoring]?) -> Void
        ) -> Bool {
            links.append(userActivity.webpageURL)
            restorationHandler(restored)
            if leaves { application.delegate = nil }
            return takes
        }
    }

    @Test func `Link taken: what the delegate returns, and each object is restored`() throws {
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

    @Test func `Delegate released: a link waits for the next one, and is given once`() throws {
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

    @Test func `Delegate that leaves at the first of several links: the others wait on, and none is lost`() throws {
        let application = Application()
        for number in 1...3 { #expect(application.receive(try payload("https://example.org/\(number)"))) }
        let leaving = PlainDelegate()
        leaving.leaves = true
        application.delegate = leaving
        #expect(leaving.links.map { $0?.lastPathComponent } == ["1"])
        #expect(application.receive(try payload("https://example.org/4")))
        let next = PlainDelegate()
        application.delegate = next
        #expect(next.links.map { $0?.lastPathComponent } == ["2", "3", "4"])
    }
}
