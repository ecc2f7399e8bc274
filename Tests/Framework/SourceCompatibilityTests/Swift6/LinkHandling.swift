// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation

// What an app does with a link that the system read from a tag.

enum OpenedLink: Equatable {
    case page(URL, records: Int)
    case tagWithoutLink
    case nothing
}

func openedLink(_ activity: NSUserActivity) -> OpenedLink {
    guard activity.activityType == NSUserActivityTypeBrowsingWeb else { return .nothing }
    let message = activity.ndefMessagePayload
    guard message.records.count > 0, message.records[0].typeNameFormat != .empty else { return .nothing }
    guard let url = activity.webpageURL else { return .tagWithoutLink }
    return .page(url, records: message.records.count)
}
