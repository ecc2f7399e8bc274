// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import LinkDelivery
import LinuxSupport
import UniversalLinks
import UserBus

/// The part of the demonstration that works without a message bus: where the tag's link goes, and the notification's text.
struct DemoOutline {
    let place: DemoSandbox
    let words: DemoWords

    /// Shows it.
    func show() throws(CommandFailure) {
        let router: LinkRouter
        do throws(StorageError) {
            router = try LinkDeliverer(environment: place.environment).router()
        } catch {
            throw CommandFailure(error)
        }
        guard let uri = TagURI(DemoSandbox.link), let content = NotificationContent(uri, router: router) else { return }
        words.say(
            "link",
            "A tag with the link \(uri.text) would come near. By the association file, Tag Reader opens the link:",
            lines: [router.universalLink(uri).why]
        )
        words.say("notification", "The notification would be:", lines: [content.title, content.body])
    }

    /// The sentence that explains what can't be shown.
    static func missing(_ error: BusError) -> String {
        """
        The service, the click and the app can't be shown, because they need a message bus. \(error.reason)
        """
    }
}
