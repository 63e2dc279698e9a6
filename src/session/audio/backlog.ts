// What a client is told when its audio is further ahead than can be held: which limit was reached, and whose it is.
import type { SpoolShortage } from '../../audio/tape/spool.ts';

export interface Backlog {
  code: 'audio_backlog_exceeded' | 'overloaded';
  message: string;
}

/** @param shortage of the spool; undefined when the session holds as much as it may */
export function backlogOf(secondsMax: number, shortage: SpoolShortage | undefined): Backlog {
  const message = `The audio is more than ${secondsMax} s ahead of what could be sent on. Send it more slowly.`;
  const backlog =
    shortage === undefined ? { code: 'audio_backlog_exceeded' as const, message } : spoolBacklog(shortage);
  return { ...backlog, message: `${backlog.message} What was accepted is transcribed.` };
}

/** The spool takes no more, however little this session has in it. */
export function spoolBacklog(shortage: SpoolShortage): Backlog {
  if (shortage === 'share') {
    const message =
      'The sessions of your organisation hold as much audio on the disk of this node as one organisation may. Send audio at the pace of speech, or fewer recordings at a time.';
    return { code: 'audio_backlog_exceeded', message };
  }
  const message =
    shortage === 'full'
      ? 'This node has no room left for audio that waits. Try again later, or send audio at the pace of speech.'
      : 'This node could not write audio that waits to its disk. Try again later, or send audio at the pace of speech.';
  return { code: 'overloaded', message };
}
