// SPDX-License-Identifier: Apache-2.0
import TagLink

/// What a tag reported about itself, and the data with which it can be found again.
struct FoundTag: Sendable {
    var identity: DiscoveredTag.Identity
    var target: TagHandle.Target
}
