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
    var takes = true
    /// Whether it leaves the app when it gets a link.
    var leaves = false
    /// The last parts of the links.
    private(set) var links: [String] = []
    private(set) var messages: [NFCNDEFMessage] = []
    let screen = Screen()

    func application(
        _ application: UIApplication,
        continue userActivity: NSUserActivity,
        restorationHandler: @escaping ([any UIUserActivityRestoring]?) -> Void
    ) -> Bool {
        guard userActivity.activityType == NSUserActivityTypeBrowsingWeb, let url = userActivity.webpageURL else {
            return false
        }
        links.append(url.lastPathComponent)
        messages.append(userActivity.ndefMessagePayload)
        restorationHandler(takes ? [screen] : nil)
        if leaves { application.delegate = nil }
        return takes
    }
}

@MainActor
private final class Screen: UserActivityRestoring {
    private(set) var shown: [String?] = []

    func restoreUserActivityState(_ userActivity: NSUserActivity) {
        shown.append(userActivity.webpageURL?.absoluteString)
    }
}

@MainActor
@Suite struct ReceivingTests {
    /// Gives an app the link to a page, and returns whether it took it.
    private func give(_ page: String, to application: Application) throws -> Bool {
        let link = "https://example.org/\(page)"
        let message = NDEFMessage([try .text("first", language: "en"), try .uri(link)])
        return application.receive(
            try UserActivityPayload(
                activityType: UserActivityPayload.browsingWeb,
                webpageURL: try #require(TagURI(link)).text,
                message: try message.encoded()
            )
        )
    }

    @Test func `Link: the delegate gets it with the whole message, and its screen is restored if it takes it`() throws {
        let (application, delegate) = (Application(), AppDelegate())
        application.delegate = delegate
        #expect(try give("a?b=ü", to: application))
        delegate.takes = false
        #expect(try !give("b", to: application))
        #expect(delegate.links == ["a", "b"] && delegate.screen.shown == ["https://example.org/a?b=%C3%BC"])
        let records = try #require(delegate.messages.first).records
        #expect(records.count == 2 && records.last?.wellKnownTypeURIPayload()?.host == "example.org")
    }

    @Test func `Link that is not from a tag: the delegate gets it with a message of one empty record`() throws {
        let (application, delegate) = (Application(), AppDelegate())
        application.delegate = delegate
        #expect(application.receive(try UserActivityPayload(webpageURL: "https://example.org/a")))
        #expect(delegate.links == ["a"])
        #expect(delegate.messages.map { $0.records.map(\.typeNameFormat) } == [[.empty]])
        #expect(throws: AppError.self) { try UserActivityPayload(webpageURL: "tel:1") }
    }

    @Test func `Links before the delegate is set: the last 16 wait for it, in order`() throws {
        let (application, delegate) = (Application(), AppDelegate())
        for number in 0..<20 { #expect(try give("\(number)", to: application)) }
        for _ in 0..<2 {
            application.delegate = delegate
            #expect(delegate.links == (4..<20).map { "\($0)" })
        }
    }

    @Test func `Link without a delegate: waits for the next delegate, and is delivered to that one only`() throws {
        let application = Application()
        do { application.delegate = AppDelegate() }
        #expect(application.delegate == nil)
        #expect(try give("a", to: application))
        application.delegate = nil
        let (second, third) = (AppDelegate(), AppDelegate())
        application.delegate = second
        application.delegate = third
        #expect(second.links == ["a"] && third.links.isEmpty)
    }

    @Test func `Delegate removed after the first of several links: the other links wait for the next delegate`() throws
    {
        let (application, leaving, next) = (Application(), AppDelegate(), AppDelegate())
        for number in 1...3 { #expect(try give("\(number)", to: application)) }
        leaving.leaves = true
        application.delegate = leaving
        #expect(leaving.links == ["1"])
        #expect(try give("4", to: application))
        application.delegate = next
        #expect(next.links == ["2", "3", "4"])
    }

    @Test func `Activity that can't be created: the delegate gets willContinue and then its failure, once`() {
        @MainActor final class Witness: ApplicationDelegate {
            private(set) var events: [String] = []

            func application(_: Application, willContinueUserActivityWithType type: String) -> Bool {
                events.append("will \(type)")
                return true
            }

            func application(
                _: Application,
                continue _: NSUserActivity,
                restorationHandler _: @escaping ([any UserActivityRestoring]?) -> Void
            ) -> Bool {
                events.append("continue")
                return true
            }

            func application(
                _: Application,
                didFailToContinueUserActivityWithType type: String,
                error: any Error
            ) {
                events.append("failed \(type) \((error as? CocoaError)?.code == .userActivityHandoffFailed)")
            }
        }
        let witness = Witness()
        #expect(!Application().hand(nil, ofType: NSUserActivityTypeBrowsingWeb, to: witness))
        let type = NSUserActivityTypeBrowsingWeb
        #expect(witness.events == ["will \(type)", "failed \(type) true"])
    }
}
