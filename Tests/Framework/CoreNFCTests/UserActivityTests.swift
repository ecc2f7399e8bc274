// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import Testing

@Suite struct `What an app is opened for` {
    @Test func `An activity keeps what it is given, and has a message with one empty record`() {
        let activity = NSUserActivity(activityType: "com.example.read")
        #expect(activity.activityType == "com.example.read" && activity.title == nil && activity.webpageURL == nil)
        activity.title = "Read"
        activity.webpageURL = URL(string: "https://example.com/a")
        #expect(activity.title == "Read" && activity.webpageURL?.absoluteString == "https://example.com/a")
        activity.title = nil
        activity.webpageURL = nil
        #expect(activity.title == nil && activity.webpageURL == nil)
        let records = activity.ndefMessagePayload.records
        #expect(records.count == 1 && records.first?.typeNameFormat == .empty && records.first?.payload.isEmpty == true)
    }
}
