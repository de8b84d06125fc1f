/** Tags that the language is to have and this version does not follow yet. Where one is used, its name is told. */
export const UPCOMING_TAGS = ['compact'] as const;

/** Whether the language is to have a tag of this name. */
export const isUpcomingTag = (name: string): boolean => (UPCOMING_TAGS as readonly string[]).includes(name);
