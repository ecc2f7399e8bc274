// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Testing

@Suite struct `A notification that was clicked` {
    @Test func `Is closed for the click within two seconds, and by the person later`() {
        let start = ContinuousClock.now
        let click = NotificationClick(at: start)
        #expect(click.explainsClosing(at: start))
        #expect(click.explainsClosing(at: start + .milliseconds(1900)))
        #expect(!click.explainsClosing(at: start + .seconds(2)))
    }

    @Test func `Is closed for the click when another just took its place, and then that one is dismissed`() {
        let start = ContinuousClock.now
        var click = NotificationClick(at: start)
        click.replace(at: start + .milliseconds(50))
        #expect(click.explainsClosing(at: start + .milliseconds(60)))
        #expect(click.explainsClosing(at: start + .milliseconds(50) + .nanoseconds(249_999_999)))
        #expect(!click.explainsClosing(at: start + .milliseconds(300)))
        // Another one in its place is no other click.
        click.replace(at: start + .milliseconds(450))
        #expect(!click.explainsClosing(at: start + .milliseconds(500)))
    }
}
