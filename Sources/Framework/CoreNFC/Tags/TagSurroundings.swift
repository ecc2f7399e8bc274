// SPDX-License-Identifier: Apache-2.0
package import Dispatch
package import NFCSessions

/// What a tag object needs from its surroundings: the session that found the tag, and the channel for commands.
package struct TagSurroundings {
    /// The runtime's handle of the tag.
    var handle: ConnectableTag
    /// The channel for its commands.
    var channel: any TagCommandChannel
    var session: NFCReaderSession?
    /// Where completion handlers are called.
    var queue: DispatchQueue
    /// What the app declares.
    var configuration: AppConfiguration

    package init(
        handle: ConnectableTag,
        channel: any TagCommandChannel,
        session: NFCReaderSession?,
        queue: DispatchQueue,
        configuration: AppConfiguration
    ) {
        self.handle = handle
        self.channel = channel
        self.session = session
        self.queue = queue
        self.configuration = configuration
    }
}
