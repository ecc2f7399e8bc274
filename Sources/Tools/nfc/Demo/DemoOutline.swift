// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import LinkDelivery
import PrivateStorage
import UniversalLinks
import UserBus

/// What can be shown of the demonstration without a message bus: where the tag's link goes, and what the notification says.
struct DemoOutline {
    let place: DemoPlace
    let words: DemoWords

    /// Shows it.
    func show() throws(CommandFailure) {
        let router: LinkRouter
        do throws(StorageError) {
            router = try LinkDeliverer(environment: place.environment).router()
        } catch {
            throw CommandFailure(error)
        }
        guard let uri = TagURI(DemoPlace.link), let content = NotificationContent(uri, router: router) else { return }
        words.say(
            "link",
            "A tag with the link \(uri.text) would come near. By the association file the link is Tag Reader's:",
            lines: [router.universalLink(uri).why]
        )
        words.say("notification", "This would be its notification.", lines: [content.title, content.body])
    }

    /// Why the rest can't be shown.
    static func missing(_ error: BusError) -> String {
        """
        The service, the click and the app that it opens can't be shown: they need a message bus. \(error.reason)
        """
    }
}
