// SPDX-License-Identifier: Apache-2.0
package import FleetMQTT
package import FleetModel

/// The settings of an agent.
package struct AgentSettings: Sendable {
    package var topics = FleetTopics.usual
    package var removalDelay = Duration.milliseconds(300)
    /// The maximum number of events awaiting acknowledgement.
    package var inFlight = 20
    /// How events identify tags: by UID or by hash.
    package var naming = TagNaming()
    /// Decides which app opens a tag's link; nil if no apps are configured.
    package var links: LinkVerdict?
    package var acceptsJobs = true
    package var keys = JobKeys()
    package var secrets = SecretsFolder(nil)
    /// Home Assistant's discovery prefix; nil turns discovery off.
    package var discoveryPrefix: String? = "homeassistant"
    /// How long to wait for known readers. Until then, the messages retained for missing readers are kept.
    package var readerGrace = Duration.zero
    package var log = AgentLog.silent
    /// The spool settings published in `bridge/info`.
    package var spool = AgentConfiguration.SpoolPart()
    /// The thread for the agent's work, except waiting for readers and the disk.
    package var loop = EventLoop.agents
    /// The connection's thread; nil creates one. Thousands of agents in a process may share a thread for connections
    /// and work. Then the broker needs a numeric address, because resolving a name blocks the thread.
    package var connectionLoop: EventLoop?

    package init() {}
}
